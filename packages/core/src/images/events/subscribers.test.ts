import { createFakeRenderer } from "@outrigger/testing";
import { expect, test } from "vitest";
import { SECRET, startReceiver, webhooksTo } from "../../../test/event-site.ts";
import { created, eventually, type SiteOptions, storedRecord } from "../../../test/image-site.ts";
import {
  anotherProcess,
  createHastyDiskStore,
  createLifeSite,
  entriesOf,
  SECOND,
} from "../../../test/life-site.ts";
import { signal, tapStore } from "../../../test/tapped-store.ts";
import type { Observer } from "../../contracts/observer.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createImageAdmin } from "../life/image-admin.ts";
import type { ImageEvent } from "../record/image-record.ts";

/** A host that takes events of images to a list. */
function listener() {
  const heard: ImageEvent[] = [];
  return {
    heard,
    told: () => heard.map(({ type }) => type),
    handle: (event: ImageEvent) => void heard.push(event),
  };
}

test("a subscriber gets each event once, with the image as it was, and nothing after it unsubscribed", async () => {
  const site = createLifeSite({ authorize: () => ({ owner: "anna" }) });
  const { heard, told, handle } = listener();
  const unsubscribe = site.images.events.subscribe(handle);
  const { id } = created(await site.create());
  await site.images.withhold(id, { reason: "First." });
  await site.images.withhold(id, { reason: "First." });
  await site.images.withhold(id, { reason: "Second." });
  await site.images.release(id);
  await site.images.remove(id);
  await eventually(() =>
    expect(told()).toEqual(["image.stored", "image.withheld", "image.withheld", "image.removed"]),
  );
  expect(heard[0]).toEqual({
    id: expect.stringMatching(/^evt_/),
    type: "image.stored",
    at: site.clock.now,
    image: expect.objectContaining({ id, name: "picture.png", owner: "anna" }),
  });
  expect(heard[3]).toMatchObject({ why: "deleted", image: { name: "picture.png", owner: "anna" } });
  unsubscribe();
  created(await site.create());
  expect(heard).toHaveLength(4);
  expect(() => site.images.events.subscribe("no" as never)).toThrow(/handler must be a function/);
});

test("a subscriber that rejects gets the event again with the same ID; another subscriber and a hook get it once", async () => {
  const stored: string[] = [];
  const site = createLifeSite({ store: createHastyDiskStore(), onStored: ({ id }) => stored.push(id) });
  const [bad, good] = [listener(), listener()];
  site.images.events.subscribe(async (event) => {
    bad.handle(event);
    if (bad.heard.length === 1) throw new Error("a bug of the host's");
  });
  site.images.events.subscribe(good.handle);
  const { id } = created(await site.create());
  await eventually(() => expect(site.errors).toMatchObject([{ message: "a bug of the host's" }]));
  await eventually(async () =>
    expect((await storedRecord(site.store, id))?.outbox).toMatchObject({
      retries: { "subscriber-1": { tries: 1 } },
      events: [{ to: ["subscriber-1"] }],
    }),
  );
  site.clock.now += 5 * SECOND;
  await eventually(() => expect(bad.heard).toHaveLength(2));
  expect(bad.heard[1]?.id).toBe(bad.heard[0]?.id);
  await eventually(async () => expect((await storedRecord(site.store, id))?.outbox).toBeUndefined());
  expect([good.heard.length, stored]).toEqual([1, [id]]);
});

test("a delivery changes neither ETag nor dates of a record, and a PATCH that races with it succeeds", async () => {
  const held = signal();
  const site = createLifeSite({ onStored: () => held.promise });
  const answer = await site.create();
  const { id, pin } = created(answer);
  const path = `/api/images/${id}.json`;
  const before = await site.send("GET", path);
  held.give();
  await eventually(async () => expect((await storedRecord(site.store, id))?.outbox).toBeUndefined());
  const after = await site.send("GET", path);
  expect(after.headers).toEqual(before.headers);
  expect(after.json).toEqual(before.json);
  const headers = { "if-match": String(before.headers.ETag) };
  const edit = { search: `pin=${pin}`, fields: { name: "renamed" }, headers };
  expect((await site.send("PATCH", path, edit)).status).toBe(200);
  expect((await site.send("PATCH", path, edit)).status).toBe(412);
});

test("a PATCH is not overtaken by the delivery that ends between its read and its write", async () => {
  const held = signal();
  let isEditing = false;
  const inner = createMemoryBlobStore();
  const store = tapStore(inner, async ({ method, key }) => {
    if (!isEditing || method !== "put" || !key.endsWith("/record")) return;
    isEditing = false;
    held.give();
    await eventually(async () =>
      expect((await storedRecord(inner, key.slice(0, 22)))?.outbox).toBeUndefined(),
    );
  });
  const site = createLifeSite({ store, onStored: () => held.promise });
  const { id, pin } = created(await site.create());
  isEditing = true;
  const edit = { search: `pin=${pin}`, fields: { name: "renamed" } };
  expect((await site.send("PATCH", `/api/images/${id}.json`, edit)).status).toBe(200);
  expect(await storedRecord(inner, id)).toMatchObject({ name: "renamed" });
  expect((await storedRecord(inner, id))?.outbox).toBeUndefined();
});

test("an edit of another process keeps the events that wait, and removes none", async () => {
  const site = createLifeSite({ onStored: () => new Promise(() => {}) });
  const { id, pin } = created(await site.create());
  const other = anotherProcess(site);
  const edit = { search: `pin=${pin}`, fields: { name: "renamed" } };
  expect((await other.send("PATCH", `/api/images/${id}.json`, edit)).status).toBe(200);
  expect((await storedRecord(site.store, id))?.outbox?.events).toMatchObject([{ type: "image.stored" }]);
});

test("an upload that is rejected, or whose record cannot be written, leaves no event and no entry", async () => {
  let isBroken = false;
  const inner = createMemoryBlobStore();
  const store = tapStore(inner, ({ method, key }) => {
    if (isBroken && method === "put" && key.endsWith("/record"))
      throw new ServiceError("store_unavailable", "No answer.");
  });
  const heard: string[] = [];
  const site = createLifeSite({ store, onStored: ({ id }) => heard.push(id) });
  isBroken = true;
  expect((await site.create()).status).toBe(503);
  isBroken = false;
  const renderer = createFakeRenderer(({ refuse }) => refuse(new ServiceError("unsupported_media", "No.")));
  expect((await anotherProcess(site, { renderer }).create()).status).toBe(415);
  await eventually(async () => expect(await entriesOf(inner, "events")).toEqual([]));
  expect(heard).toEqual([]);
});

test("an administrator with the webhooks of the service records and delivers the events of its changes", async () => {
  const receiver = await startReceiver();
  const store = createHastyDiskStore();
  const site = createLifeSite({ store });
  const { id } = created(await site.create());
  const admin = createImageAdmin({
    storage: { ...store, close: async () => {} },
    webhooks: webhooksTo(receiver),
    now: () => site.clock.now,
  });
  await admin.withhold(id, { reason: "By order of the court." });
  await admin.remove(id);
  await admin.close();
  await eventually(() => expect(receiver.told()).toEqual([`image.withheld ${id}`, `image.removed ${id}`]));
  expect((await storedRecord(store, id))?.outbox).toBeUndefined();
});

test("no event has a PIN, an address for editing, a client's address, or the name of the host's requests", async () => {
  const receiver = await startReceiver();
  const site = createLifeSite({ webhooks: webhooksTo(receiver) });
  const { handle, heard } = listener();
  site.images.events.subscribe(handle);
  const headers = { "x-forwarded-for": "198.51.100.77", "user-agent": "SecretAgent/1.0" };
  const { id, pin } = created(await site.create({ headers }));
  await site.images.withhold(id, { reason: "By order of the court." });
  await site.images.remove(id);
  await eventually(() => expect([receiver.events.length, heard.length]).toEqual([3, 3]));
  const all = JSON.stringify([receiver.events.map(({ text }) => text), heard]);
  for (const secret of [pin, "/edit", "198.51.100", "127.0.0.1", "SecretAgent", SECRET, "pin"]) {
    expect(all).not.toContain(secret);
  }
});

/** A service that counts the writes of records, and the removals of entries for events. */
function countedSite(options: SiteOptions) {
  const writes: string[] = [];
  const store = tapStore(createMemoryBlobStore(), ({ method, key }) => {
    if (method === "put" && key.endsWith("/record")) writes.push("record");
    if (method === "delete" && key.startsWith("due-events/")) writes.push("no entry");
  });
  return { writes, site: createLifeSite({ store, ...options }) };
}

test("one write of the record removes the event that a hook, a webhook and a subscriber got", async () => {
  const receiver = await startReceiver();
  const { writes, site } = countedSite({ onStored() {}, webhooks: webhooksTo(receiver) });
  const { handle, told } = listener();
  site.images.events.subscribe(handle);
  const { id } = created(await site.create());
  await eventually(() => expect([receiver.events, told()]).toMatchObject([{ length: 1 }, { length: 1 }]));
  // Now rather than in half a second.
  await site.images.close();
  expect(await storedRecord(site.store, id)).not.toHaveProperty("outbox");
  expect([receiver.told(), told()]).toEqual([[`image.stored ${id}`], ["image.stored"]]);
  expect(writes).toEqual(["record", "record", "no entry"]);
});

test("events that were delivered come again in their order if the store cannot remove them", async () => {
  let isBroken = false;
  const store = tapStore(createMemoryBlobStore(), ({ method, key }) => {
    if (isBroken && method === "put" && key.endsWith("/record"))
      throw new ServiceError("store_unavailable", "No.");
  });
  const site = createLifeSite({ store });
  const first = listener();
  site.images.events.subscribe(first.handle);
  const { id } = created(await site.create());
  isBroken = true;
  await eventually(() => expect(site.errors).toHaveLength(1));
  await site.images.close();
  isBroken = false;
  expect((await storedRecord(store, id))?.outbox?.events).toHaveLength(1);
  const second = listener();
  site.clock.now += 31 * SECOND;
  const next = anotherProcess(site);
  next.images.events.subscribe(second.handle);
  await next.images.withhold(id, { reason: "By order of the court." });
  await eventually(() => expect(second.told()).toEqual(["image.stored", "image.withheld"]));
  expect(second.heard[0]?.id).toBe(first.heard[0]?.id);
});

test("gauges have the images with undelivered events, the age of the oldest, and the events that were given up", async () => {
  const receiver = await startReceiver((response) => response.writeHead(500).end());
  const store = createHastyDiskStore();
  const site = createLifeSite({ store, webhooks: webhooksTo(receiver) });
  const { id } = created(await site.create());
  await eventually(async () =>
    expect(Object.keys((await storedRecord(store, id))?.outbox?.retries ?? {})).toHaveLength(1),
  );
  await site.images.close();
  site.clock.now += 2 * SECOND;
  const gauges = new Map<string, () => number>();
  const observer: Observer = {
    observe: (_operation, work) => work(),
    served() {},
    gauge(name, read) {
      gauges.set(name, read);
      return () => gauges.delete(name);
    },
  };
  site.clock.now += 60 * SECOND;
  receiver.answer = () => {};
  anotherProcess(site, { observer });
  await eventually(() => {
    expect(gauges.get("events_waiting")?.()).toBe(1);
    expect(gauges.get("events_oldest_seconds")?.()).toBe(62);
    expect(gauges.get("events_dead")?.()).toBe(0);
  });
});

test("a held image has the events held and accepted, or held and removed with the reason refused, and never stored", async () => {
  const stored: string[] = [];
  const site = createLifeSite({ inspect: () => "hold", onStored: ({ id }) => stored.push(id) });
  const heard: string[] = [];
  site.images.events.subscribe(({ type, image, why }) =>
    heard.push([type, image.id, why ?? ""].join(" ").trim()),
  );
  const [good, bad] = [created(await site.create()).id, created(await site.create()).id];
  await site.images.accept(good);
  await site.images.refuse(bad, "Not here.");
  await eventually(() =>
    expect([...heard].sort()).toEqual(
      [
        `image.held ${good}`,
        `image.held ${bad}`,
        `image.accepted ${good}`,
        `image.removed ${bad} refused`,
      ].sort(),
    ),
  );
  expect(stored).toEqual([good]);
});
