import assert from "node:assert/strict";
import { describe, expect, test } from "vitest";
import { created, eventually, type ImageSite, storedRecord } from "../../../test/image-site.ts";
import {
  anotherProcess,
  createHastyDiskStore,
  createLifeSite,
  DAY,
  entriesOf,
  FORMATS,
  HOUR,
  MINUTE,
  readsOf,
  SECOND,
  STORES,
  statusesOf,
  tracesOf,
} from "../../../test/life-site.ts";
import { type StoreCall, tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import type { DueIndex } from "../../contracts/due-index.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createImageId, type ImageRecord } from "../record/image-record.ts";
import { encodeRecord } from "../record/record-codec.ts";

const NOTHING_DONE = { looked: 0, emptied: 0, forgotten: 0, failed: 0 };

/** All keys except the time of the first notes. */
async function lastingKeysOf(store: BlobStore): Promise<string[]> {
  return (await store.list("")).keys.filter((key) => !key.startsWith("rendition-notes/"));
}

/** An image with renditions, and bytes of every other kind. */
async function createRendered(site: ImageSite): Promise<string> {
  const { id } = created(await site.create());
  for (const format of FORMATS) await site.send("GET", `/api/images/${id}.${format}`);
  await site.store.put(`${id}/upload`, Buffer.from("as it came"));
  await eventually(async () => {
    const kinds = (await tracesOf(site.store, id)).map((key) => key.split("/")[1] ?? key);
    // A directory has no notes of what is stored in it.
    const others = new Set(kinds.filter((kind) => kind !== "notes"));
    expect([...others]).toEqual(["original", "record", "renditions", "upload", "entry"]);
  });
  return id;
}

function edit(site: ImageSite, { id, pin }: { id: string; pin: string }, fields: Record<string, unknown>) {
  return site.send("PATCH", `/api/images/${id}.json`, { headers: { "x-service-image-pin": pin }, fields });
}

describe.each(Object.entries(STORES))("on a store in %s", (_name, createStore) => {
  test("a sweep keeps only the record of an expired image, and a sweep after tombstoneDays removes that", async () => {
    const site = createLifeSite({ store: createStore(), tombstoneDays: 7 });
    const id = await createRendered(site);
    site.clock.now += DAY - 1;
    expect(await site.images.sweep()).toMatchObject({ emptied: 0, forgotten: 0, failed: 0 });
    expect((await tracesOf(site.store, id)).length).toBeGreaterThan(5);

    site.clock.now += 1;
    expect(await site.images.sweep()).toEqual({ looked: 1, emptied: 1, forgotten: 0, failed: 0 });
    expect(await tracesOf(site.store, id)).toEqual([`${id}/record`, "entry"]);
    expect(await statusesOf(site, readsOf(id))).toEqual([410]);

    site.clock.now += 7 * DAY - 1;
    expect(await site.images.sweep()).toEqual(NOTHING_DONE);
    site.clock.now += 1;
    expect(await site.images.sweep()).toEqual({ looked: 1, emptied: 0, forgotten: 1, failed: 0 });
    expect(await lastingKeysOf(site.store)).toEqual(["identity"]);
    expect(await entriesOf(site.store)).toEqual([]);
    expect((await site.send("GET", `/api/images/${id}.json`)).status).toBe(404);
    expect(site.errors).toEqual([]);
  });

  test("a sweep after tombstoneDays leaves no trace of a deleted image", async () => {
    const site = createLifeSite({ store: createStore(), tombstoneDays: 7 });
    const { id, pin } = created(await site.create());
    const deleted = await site.send("DELETE", `/api/images/${id}.json`, { search: `pin=${pin}` });
    expect(deleted.status).toBe(204);
    expect(await storedRecord(site.store, id)).toMatchObject({ gone: { why: "deleted" } });
    expect((await site.store.list("")).keys.filter((key) => key.startsWith(id))).toEqual([`${id}/record`]);
    site.clock.now += 7 * DAY;
    await site.images.sweep();
    expect(await lastingKeysOf(site.store)).toEqual(["identity"]);
    expect(await entriesOf(site.store)).toEqual([]);
  });

  test("two processes that sweep at once sweep each image once", async () => {
    const removed: string[] = [];
    const onRemoved = ({ id }: { id: string }) => removed.push(id);
    const site = createLifeSite({ store: createStore(), tombstoneDays: 1, onRemoved });
    const other = anotherProcess(site);
    const ids: string[] = [];
    for (let count = 0; count < 20; count++) ids.push(created(await site.create()).id);
    site.clock.now += DAY;
    const reports = await Promise.all([site.images.sweep(), other.images.sweep()]);
    expect(reports.map(({ failed }) => failed)).toEqual([0, 0]);
    expect(removed.sort()).toEqual(ids.sort());
    for (const id of ids) expect(await tracesOf(site.store, id)).toEqual([`${id}/record`, "entry"]);
    // A record stays until its events are delivered.
    for (const id of ids)
      await eventually(async () => expect(await storedRecord(site.store, id)).not.toHaveProperty("outbox"));
    site.clock.now += DAY;
    await Promise.all([site.images.sweep(), other.images.sweep()]);
    expect(await lastingKeysOf(site.store)).toEqual(["identity"]);
    expect(await entriesOf(site.store)).toEqual([]);
    expect([...site.errors, ...other.errors]).toEqual([]);
  });
});

/** Stores images in their state after the first sweep. */
async function fill(store: BlobStore & DueIndex, record: ImageRecord, count: number): Promise<void> {
  const { expiresAt: dueMs } = record;
  assert(dueMs);
  for (let done = 0; done < count; done += 100) {
    const ids = Array.from({ length: 100 }, createImageId);
    await Promise.all(ids.map((id) => store.put(`${id}/record`, encodeRecord({ ...record, id }))));
    await Promise.all(ids.map((id) => store.addDue("images", { id, dueMs })));
  }
}

test("images that are not due cause no calls of the store in a sweep", async () => {
  const costs: number[] = [];
  for (const living of [0, 2000]) {
    const calls: StoreCall[] = [];
    const kept = createHastyDiskStore();
    const site = createLifeSite({ store: tapStore(kept, (call) => void calls.push(call)) });
    const expiresIn = (ms: number) => `expiresAt=${new Date(site.clock.now + ms).toISOString()}`;
    const { id } = created(await site.create({ search: expiresIn(300 * DAY) }));
    const record = await storedRecord(kept, id);
    assert(record);
    await fill(kept, record, living);
    for (let count = 0; count < 20; count++) await site.create({ search: expiresIn(SECOND) });
    site.clock.now += SECOND;
    calls.length = 0;
    expect(await site.images.sweep()).toEqual({ looked: 20, emptied: 20, forgotten: 0, failed: 0 });
    costs.push(calls.length);
    calls.length = 0;
    expect(await site.images.sweep()).toEqual(NOTHING_DONE);
    costs.push(calls.length);
  }
  const [sweep = 0, idle = 0, sweepAmongMany = 0, idleAmongMany = 0] = costs;
  // A call of an upload may end during the first sweep.
  expect(Math.abs(sweepAmongMany - sweep)).toBeLessThan(5);
  // One read of the identity, and one of each of the six empty due lists.
  expect([idle, idleAmongMany]).toEqual([7, 7]);
});

test("a sweep notices a shortened life in time, even if another process swept the image before", async () => {
  for (const looksFirst of [true, false]) {
    const site = createLifeSite();
    const image = created(await site.create());
    if (looksFirst) {
      site.clock.now += HOUR;
      await site.images.sweep();
    }
    const expiresAt = site.clock.now + 2 * MINUTE;
    expect((await edit(site, image, { expiresAt })).status).toBe(200);
    site.clock.now = expiresAt - 1;
    await site.images.sweep();
    expect(await tracesOf(site.store, image.id)).toContain(`${image.id}/original`);
    site.clock.now = expiresAt;
    expect(await site.images.sweep()).toMatchObject({ emptied: 1 });
    expect(await tracesOf(site.store, image.id)).not.toContain(`${image.id}/original`);
  }
});

test("a sweep notices a life of less than 15 minutes in time", async () => {
  const site = createLifeSite();
  const search = `expiresAt=${new Date(site.clock.now + MINUTE).toISOString()}`;
  const { id } = created(await site.create({ search }));
  site.clock.now += MINUTE;
  expect(await site.images.sweep()).toMatchObject({ emptied: 1 });
  expect(await tracesOf(site.store, id)).not.toContain(`${id}/original`);
});

test("a sweep keeps an image with a lengthened life until its end", async () => {
  const site = createLifeSite();
  const image = created(await site.create());
  await edit(site, image, { expiresAt: site.clock.now + 3 * DAY });
  site.clock.now += 3 * DAY - 1;
  await site.images.sweep();
  expect(await statusesOf(site, readsOf(image.id))).toEqual([200, 206, 304]);
  site.clock.now += 1;
  expect(await site.images.sweep()).toMatchObject({ emptied: 1 });
});

test("a sweep removes bytes that a DELETE failed to remove", async () => {
  let isBroken = false;
  const kept = createMemoryBlobStore();
  const store = tapStore(kept, ({ method, key }) => {
    if (isBroken && method === "delete" && key.endsWith("/original"))
      throw new ServiceError("store_unavailable", "No answer.");
  });
  const site = createLifeSite({ store });
  const { id, pin } = created(await site.create());
  isBroken = true;
  const answer = await site.send("DELETE", `/api/images/${id}.json`, { search: `pin=${pin}` });
  expect(answer.status).toBe(204);
  expect(site.errors).toHaveLength(1);
  expect(await tracesOf(kept, id)).toContain(`${id}/original`);
  expect(await statusesOf(site, readsOf(id))).toEqual([410]);
  isBroken = false;
  expect(await site.images.sweep()).toMatchObject({ emptied: 1, failed: 0 });
  expect(await tracesOf(kept, id)).not.toContain(`${id}/original`);
});

test("an image whose sweep fails is postponed by five minutes, and no other image is", async () => {
  const kept = createMemoryBlobStore();
  let broken = "";
  const store = tapStore(kept, ({ method, key }) => {
    if (method === "delete" && key === `${broken}/original`)
      throw new ServiceError("store_unavailable", "No answer.");
  });
  const site = createLifeSite({ store });
  const ids: string[] = [];
  for (let count = 0; count < 5; count++) ids.push(created(await site.create()).id);
  [broken = ""] = ids;
  site.clock.now += DAY;
  expect(await site.images.sweep()).toEqual({ looked: 5, emptied: 4, forgotten: 0, failed: 1 });
  expect(site.errors).toHaveLength(1);
  expect(await tracesOf(kept, broken)).toContain(`${broken}/original`);
  broken = "";
  site.clock.now += 5 * MINUTE - 1;
  expect(await site.images.sweep()).toEqual(NOTHING_DONE);
  site.clock.now += 1;
  expect(await site.images.sweep()).toEqual({ looked: 1, emptied: 1, forgotten: 0, failed: 0 });
});

test("images that cannot be removed do not block those behind them", async () => {
  const kept = createMemoryBlobStore();
  const broken = new Set<string>();
  const store = tapStore(kept, ({ method, key }) => {
    if (method === "delete" && broken.has(key)) throw new ServiceError("store_unavailable", "No answer.");
  });
  const site = createLifeSite({ store });
  for (let count = 0; count < 250; count++) broken.add(`${created(await site.create()).id}/original`);
  site.clock.now += 1;
  const { id } = created(await site.create());
  site.clock.now += DAY;
  await site.images.sweep();
  await site.images.sweep();
  expect(await tracesOf(kept, id)).toEqual([`${id}/record`, "entry"]);
});

test("sweeps while the store of records fails lose nothing", async () => {
  const kept = createMemoryBlobStore();
  let isBroken = false;
  const store = tapStore(kept, ({ method, key }) => {
    const isList = method === "list" && key === "due-images/";
    if (isBroken && !isList) throw new ServiceError("store_unavailable", "No answer.");
  });
  const site = createLifeSite({ store });
  const { id } = created(await site.create());
  site.clock.now += DAY;
  isBroken = true;
  await expect(site.images.sweep()).rejects.toMatchObject({ code: "store_unavailable" });
  isBroken = false;
  expect(await site.images.sweep()).toMatchObject({ emptied: 1 });
  expect(await tracesOf(kept, id)).toEqual([`${id}/record`, "entry"]);
});

test("the next sweep completes a sweep that crashed at any call", async () => {
  let isOver = false;
  for (let point = 0; !isOver; point++) {
    const store = createMemoryBlobStore();
    const site = createLifeSite({ store, tombstoneDays: 1 });
    const { id } = created(await site.create());
    let calls = 0;
    const dies = tapStore(store, () => (calls++ < point ? undefined : new Promise(() => {})));
    for (const days of [1, 2]) {
      site.clock.now += days * DAY;
      const dying = site.another({ store: dies });
      const swept = dying.images.sweep().then(() => true);
      const died = eventually(() => expect(calls).toBeGreaterThan(point)).then(() => false);
      isOver = await Promise.race([swept, died]);
      dying.kill();
      if (!isOver) break;
    }
    await site.images.sweep();
    expect(
      (await tracesOf(store, id)).filter((key) => key.endsWith("/original")),
      `call ${point}`,
    ).toEqual([]);
    site.clock.now += 2 * DAY;
    await site.images.sweep();
    // A crash may leave an entry of the index, which lists nothing.
    const lasting = (await lastingKeysOf(store)).filter((key) => !key.startsWith("copies/"));
    expect(lasting, `call ${point}`).toEqual(["identity"]);
  }
});

test("a service sweeps by itself, unless sweepEveryMs is false", async () => {
  const site = createLifeSite({ sweepEveryMs: 1000 });
  const { id } = created(await site.create());
  site.clock.now += DAY;
  await eventually(async () => expect(await tracesOf(site.store, id)).toEqual([`${id}/record`, "entry"]));
});
