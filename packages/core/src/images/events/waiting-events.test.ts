import type { ServerResponse } from "node:http";
import { acceptAll, createFakeRenderer } from "@outrigger/testing";
import { expect, test, vi } from "vitest";
import { startReceiver, webhooksTo } from "../../../test/event-site.ts";
import { created, eventually, type ImageSite, keysOf, storedRecord } from "../../../test/image-site.ts";
import {
  anotherProcess,
  createHastyDiskStore,
  createLifeSite,
  DAY,
  entriesOf,
  MINUTE,
  SECOND,
} from "../../../test/life-site.ts";
import { holdUp, signal, tapStore } from "../../../test/tapped-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createImageAdmin } from "../life/image-admin.ts";

/** A handler that ends when the test says. */
function slowHandler() {
  const { promise, give } = signal();
  const heard: string[] = [];
  const handle = ({ id }: { id: string }) => {
    heard.push(id);
    return promise;
  };
  return { heard, handle, finish: give };
}

async function outboxOf({ store }: ImageSite, id: string) {
  return (await storedRecord(store, id))?.outbox;
}

/** Images whose event a process left that is closed. It is due again. */
async function leftImages(count = 1) {
  const site = createLifeSite({ store: createHastyDiskStore(), onStored: () => Promise.reject("Not now.") });
  const ids: string[] = [];
  while (ids.length < count) ids.push(created(await site.create()).id);
  await site.images.close();
  site.clock.now += 5 * SECOND;
  return { site, ids };
}

test("an event that waited for more than seven days gets an attempt before it is given up", async () => {
  const { site, ids } = await leftImages();
  site.clock.now += 8 * DAY;
  const onStored = vi.fn().mockRejectedValue("Still not.");
  const { images, errors } = anotherProcess(site, { onStored });
  await eventually(async () => expect(await images.undelivered()).toMatchObject({ waiting: 0, dead: 1 }));
  expect(onStored).toHaveBeenCalledTimes(1);
  expect(errors.map(String)).toEqual([
    "Still not.",
    expect.stringContaining(`(image.stored of image ${ids[0]}) was given up: onStored did not take it`),
  ]);
});

test("a handler with which processes die gets an event three times, later ones after a delay, and none after seven days", async () => {
  const { heard, handle, finish } = slowHandler();
  const site = createLifeSite({ store: createHastyDiskStore(), onStored: handle });
  const { id } = created(await site.create());
  await eventually(() => expect(heard).toEqual([id]));
  // A process that waits for its handler is, for the others, one that died.
  const processes = [site];
  for (const calls of [2, 3]) {
    site.clock.now += 31 * SECOND;
    processes.push(anotherProcess(site));
    await eventually(() => expect(heard).toHaveLength(calls));
  }
  site.clock.now += 31 * SECOND;
  const diedAt = site.clock.now;
  processes.push(anotherProcess(site));
  const retry = async () => (await outboxOf(site, id))?.retries.onStored;
  await eventually(async () => expect(await retry()).toMatchObject({ tries: 3 }));
  expect((await retry())?.at).toBeGreaterThanOrEqual(diedAt + 5 * MINUTE);
  expect((await outboxOf(site, id))?.worker).toBeNull();
  site.clock.now += 10 * MINUTE;
  await eventually(() => expect(heard).toHaveLength(4));
  site.clock.now += 7 * DAY;
  const last = anotherProcess(site);
  await eventually(async () =>
    expect(await last.images.undelivered()).toMatchObject({ waiting: 0, dead: 1 }),
  );
  expect(heard).toHaveLength(4);
  finish();
});

test("a handler that hangs gets 16 of the events that waited, and the others when it goes on", async () => {
  const { site, ids } = await leftImages(20);
  const { heard, handle, finish } = slowHandler();
  anotherProcess(site, { onStored: handle });
  const later = async () =>
    (await entriesOf(site.store, "events")).filter(({ dueMs }) => dueMs > site.clock.now).length;
  await eventually(async () => expect([heard.length, await later()]).toEqual([16, 4]));
  finish();
  site.clock.now += 20 * SECOND;
  await eventually(() => expect([...heard].sort()).toEqual([...ids].sort()));
});

test("an event whose retry is due behind a webhook that hangs waits, and causes no write each second", async () => {
  const waiting: ServerResponse[] = [];
  const receiver = await startReceiver((response) => response.writeHead(500).end());
  const site = createLifeSite({ store: createHastyDiskStore(), webhooks: webhooksTo(receiver) });
  for (let count = 0; count < 5; count++) {
    await site.create();
    await eventually(() => expect(receiver.events).toHaveLength(count + 1));
  }
  const dueOf = async () => (await entriesOf(site.store, "events")).map(({ dueMs }) => dueMs);
  const failedAt = site.clock.now;
  await eventually(async () => expect(await dueOf()).toEqual(Array(5).fill(failedAt + 5 * SECOND)));
  receiver.answer = (response) => void waiting.push(response);
  site.clock.now += 5 * SECOND;
  await eventually(async () =>
    expect((await dueOf()).filter((dueMs) => dueMs >= site.clock.now + 30 * SECOND)).toHaveLength(4),
  );
  expect(receiver.events).toHaveLength(6);
  for (const response of waiting) response.end();
});

test("an event is not delivered again after a later one if the lists of operators are slow", async () => {
  const removal = holdUp(({ method, key }) => method === "delete" && key.startsWith("marked/"));
  const store = tapStore(createMemoryBlobStore(), removal.tap);
  const site = createLifeSite({ store, inspect: () => "hold" });
  const first = signal();
  const heard: string[] = [];
  site.images.events.subscribe(async ({ type }) => {
    heard.push(type);
    if (heard.length === 1) await first.promise;
  });
  const { id } = created(await site.create());
  const accepting = site.images.accept(id);
  await removal.reached;
  first.give();
  await eventually(async () => expect(await outboxOf(site, id)).toBeUndefined());
  removal.letGo();
  await accepting;
  await site.images.close();
  expect(heard).toEqual(["image.held", "image.accepted"]);
});

test("an upload whose entry for events cannot be removed leaves neither bytes nor a record that was stored after all", async () => {
  let isBroken = false;
  const fail = () => {
    throw new ServiceError("store_unavailable", "No answer.");
  };
  const inner = tapStore(createMemoryBlobStore(), ({ method, key }) => {
    if (isBroken && method === "delete" && key.startsWith("due-events/")) fail();
  });
  const put: typeof inner.put = async (key, body, options) => {
    const stored = await inner.put(key, body, options);
    return isBroken && key.endsWith("/record") ? fail() : stored;
  };
  const store = { ...inner, put };
  const site = createLifeSite({ store, renderer: createFakeRenderer(acceptAll), onStored() {} });
  isBroken = true;
  expect((await site.create()).status).toBe(503);
  expect((await keysOf(inner)).filter((key) => !key.startsWith("due-events/"))).toEqual([]);
});

test.each([true, false])(
  "a deletion in a full store delivers the events that waited once, in order, and counts them if that fails: %s",
  async (fails) => {
    let isFull = false;
    const inner = createMemoryBlobStore();
    const store = tapStore(inner, ({ method, key }) => {
      if (isFull && method === "put" && !key.startsWith("due-deadevents/"))
        throw new ServiceError("no_space", "Full.");
    });
    const site = createLifeSite({ store });
    const heard: string[] = [];
    let isDown = true;
    site.images.events.subscribe(({ type }) => {
      if (isDown) throw new Error("Not now.");
      heard.push(type);
    });
    const { id } = created(await site.create());
    await eventually(async () => expect((await outboxOf(site, id))?.worker).toBeNull());
    isFull = true;
    isDown = fails;
    await site.images.remove(id);
    const { length } = await entriesOf(inner, "deadevents");
    await eventually(async () =>
      expect((await entriesOf(inner, "deadevents")).length).toBe(fails ? 1 : length),
    );
    await site.images.close();
    expect(await storedRecord(inner, id)).toBeNull();
    expect(heard).toEqual(fails ? [] : ["image.stored", "image.removed"]);
    const lost = site.errors.map(String).filter((text) => text.includes("was given up"));
    expect(lost).toHaveLength(fails ? 2 : 0);
  },
);

test.each([true, false])(
  "the events of a record that ends after seven days get an attempt, and are counted if that fails: %s",
  async (fails) => {
    const receiver = await startReceiver((response) => response.writeHead(500).end());
    const store = createHastyDiskStore();
    const options = { webhooks: webhooksTo(receiver), tombstoneDays: 0 };
    const site = createLifeSite({ store, ...options });
    const { id } = created(await site.create());
    await eventually(() => expect(receiver.told()).toEqual([`image.stored ${id}`]));
    await site.images.remove(id);
    await site.images.close();
    receiver.events.length = 0;
    if (!fails) receiver.answer = (response) => response.writeHead(204).end();
    site.clock.now += 8 * DAY;
    const errors: string[] = [];
    const admin = createImageAdmin({
      ...{ storage: { ...store, close: async () => {} }, now: () => site.clock.now, ...options },
      onError: (error) => errors.push(String(error)),
    });
    await admin.sweep();
    await admin.close();
    expect(await storedRecord(store, id)).toBeNull();
    expect(receiver.told()).toEqual([`image.stored ${id}`, `image.removed ${id}`]);
    expect(errors.filter((text) => text.includes("was given up"))).toHaveLength(fails ? 2 : 0);
    expect(await entriesOf(store, "deadevents")).toHaveLength(fails ? 1 : 0);
  },
);
