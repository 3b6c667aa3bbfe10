import assert from "node:assert/strict";
import { createFakeRenderer } from "@outrigger/testing";
import { expect, test } from "vitest";
import { created, createSite, eventually, keysOf } from "../../../test/image-site.ts";
import { createLifeSite, DAY, entriesOf, MINUTE, tracesOf } from "../../../test/life-site.ts";
import { holdUp, tapStore } from "../../../test/tapped-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

test("bytes of a process that died before writing the record are swept after 15 minutes, not before", async () => {
  const store = createMemoryBlobStore();
  const held = holdUp(({ method, key }) => method === "put" && key.endsWith("/record"));
  const dying = createLifeSite({ store: tapStore(store, held.tap) });
  void dying.create();
  await held.reached;
  dying.kill();
  const original = (await store.list("")).keys.find((key) => key.endsWith("/original"));
  assert(original);
  const { clock } = dying;
  const site = createLifeSite({ store, clock });
  clock.now += 15 * MINUTE - 1;
  await site.images.sweep();
  expect((await store.list("")).keys).toContain(original);
  clock.now += 1;
  expect(await site.images.sweep()).toMatchObject({ forgotten: 1 });
  expect(await keysOf(store)).toEqual([]);
});

test("an upload that takes 15 minutes to store answers 503 and leaves nothing", async () => {
  const store = createMemoryBlobStore();
  const held = holdUp(({ method, key }) => method === "put" && key.endsWith("/record"));
  const slow = createLifeSite({ store: tapStore(store, held.tap) });
  const answer = slow.create();
  await held.reached;
  slow.clock.now += 15 * MINUTE;
  await createLifeSite({ store, clock: slow.clock }).images.sweep();
  held.letGo();
  expect((await answer).status).toBe(503);
  expect(await keysOf(store)).toEqual([]);
});

test.each(["/original", "/record"])(
  "an upload is removed at once if the store fails to write its %s",
  async (part) => {
    const kept = createMemoryBlobStore();
    const site = createLifeSite({
      store: tapStore(kept, ({ method, key }) => {
        if (method === "put" && key.endsWith(part)) throw new ServiceError("store_unavailable", "No answer.");
      }),
    });
    expect((await site.create()).status).toBe(503);
    expect(await keysOf(kept)).toEqual([]);
  },
);

test("an upload rejected after its 202 keeps its reason for a day, then its traces are removed", async () => {
  const renderer = createFakeRenderer();
  const site = createSite({ renderer, sweepEveryMs: false });
  const expiresAt = new Date(site.clock.now + 100 * DAY).toISOString();
  const answer = await site.create({
    search: `expiresAt=${expiresAt}`,
    headers: { prefer: "respond-async" },
  });
  const { id } = created(answer);
  (await renderer.next()).refuse(new ServiceError("unsupported_media", "Its pixels end early."));
  const detail = async () => (await site.send("GET", `/api/images/${id}.json`)).json.detail;
  await eventually(async () => expect(await detail()).toBe("Its pixels end early."));
  await eventually(async () => expect(await entriesOf(site.store, "jobs")).toEqual([]));
  await site.images.sweep();
  site.clock.now += DAY - 1;
  await site.images.sweep();
  expect(await detail()).toBe("Its pixels end early.");
  site.clock.now += 1;
  await site.images.sweep();
  expect(await tracesOf(site.store, id)).toEqual([]);
});

test("an image that expires during its processing leaves no bytes, even if the work ends later", async () => {
  const renderer = createFakeRenderer();
  const site = createSite({ renderer, sweepEveryMs: false, tombstoneDays: 1 });
  const { id } = created(await site.create({ headers: { prefer: "respond-async" } }));
  const admitting = await renderer.next();
  site.clock.now += DAY;
  expect(await site.images.sweep()).toMatchObject({ emptied: 1 });
  admitting.accept();
  await eventually(async () => expect(await entriesOf(site.store, "jobs")).toEqual([]));
  expect((await tracesOf(site.store, id)).filter((key) => key !== "entry")).toEqual([`${id}/record`]);
  site.clock.now += DAY;
  await site.images.sweep();
  expect(await tracesOf(site.store, id)).toEqual([]);
});
