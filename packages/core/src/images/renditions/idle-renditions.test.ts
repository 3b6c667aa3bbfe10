import { describe, expect, test, vi } from "vitest";
import { createCacheSite, DAY_MS, HOUR_MS, keyOf, NOON, STORES } from "../../../test/cache-site.ts";
import { signal, tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createDueList } from "../../stores/due-list.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { removeStored } from "./remove-stored.ts";

describe.each(STORES)("idle renditions in %s", (_name, createStore) => {
  test("are removed after idleDays without use, and the other blobs of the image stay", async () => {
    const { store, clock, cache, create, put, names, sweep, entries } = createCacheSite({
      store: createStore(),
      idleDays: 8,
    });
    const [idle, used] = [create(), create()];
    for (const image of [idle, used]) {
      await put(image, "png", 100);
      for (const part of ["record", "original", "upload"]) {
        await store.put(`${image.id}/${part}`, Buffer.alloc(9));
      }
    }
    await sweep(4 * DAY_MS);
    cache.used(used, keyOf(used, "png"));
    await cache.close();
    await sweep(4 * DAY_MS - HOUR_MS);
    expect(await names(idle)).toEqual(["png"]);
    await sweep(2 * HOUR_MS);
    expect([await names(idle), await names(used)]).toEqual([[], ["png"]]);
    const parts = ["original", "record", "upload"].map((part) => `${idle.id}/${part}`);
    expect((await store.list(`${idle.id}/`)).keys.sort()).toEqual(parts);
    expect((await entries()).map(({ id }) => id)).toEqual([used.id]);
    await sweep(4 * DAY_MS);
    expect([await names(used), await entries()]).toEqual([[], []]);
    expect(clock.now).toBeLessThan(NOON + 14 * DAY_MS);
  });

  test("stay while another process serves them", async () => {
    const site = createCacheSite({ store: createStore(), idleDays: 2 });
    const other = site.another();
    const image = site.create();
    await site.put(image, "png", 100);
    for (let day = 0; day < 6; day++) {
      other.cache.used(image, keyOf(image, "png"));
      await other.cache.close();
      await site.sweep(DAY_MS);
    }
    expect(await site.names(image)).toEqual(["png"]);
    expect([...site.errors, ...other.errors]).toEqual([]);
  });

  test("that were stored without notes, as by a migration, are removed idleDays after the sweep finds them", async () => {
    const { store, create, names, sweep, entries } = createCacheSite({ store: createStore(), idleDays: 2 });
    const image = create({ createdAt: 1 });
    await store.put(keyOf(image, "png"), Buffer.alloc(10));
    await createDueList(store, "renditions").add({ id: image.id, dueMs: 0 });
    await sweep();
    expect([await names(image), (await entries()).length]).toEqual([["png"], 1]);
    await sweep(2 * DAY_MS + HOUR_MS);
    expect([await names(image), await entries()]).toEqual([[], []]);
  });

  test("are removed, with their entry, when their image has ended without them", async () => {
    const { store, clock, living, create, put, sweep, entries } = createCacheSite({ store: createStore() });
    const image = create({ expiresAt: clock.now + DAY_MS });
    await put(image, "png", 100);
    expect(await entries()).toHaveLength(1);
    living.delete(image.id);
    await store.delete(`${image.id}/notes`);
    await sweep(DAY_MS + HOUR_MS);
    expect(await entries()).toEqual([]);
    expect((await store.list(`${image.id}/`)).keys).toEqual([]);
  });
});

test("removing an image removes the due entry of its idle renditions, even while another process stores a rendition", async () => {
  for (const isStoring of [false, true]) {
    const site = createCacheSite();
    const { store, living, put, create, entries } = site;
    const image = create();
    await put(image, "png", 100);
    site.clock.now += HOUR_MS;
    const storing = isStoring && site.another().put(image, "gif", 100);
    living.delete(image.id);
    await removeStored({ records: store, originals: store, renditions: store }, image.id);
    await storing;
    expect([await entries(), (await store.list(`${image.id}/`)).keys]).toEqual([[], []]);
  }
});

test("a rendition stored at any call of a sweep of idle renditions keeps a due entry, and is removed once it is idle", async () => {
  for (let point = 0, isOver = false; !isOver; point++) {
    const memory = createMemoryBlobStore();
    const first = createCacheSite({ store: memory, idleDays: 4 });
    const image = first.create();
    await first.put(image, "png", 10);
    const other = first.another();
    await other.put(image, "jpg", 10);
    first.clock.now += 5 * DAY_MS;
    let calls = 0;
    const store = tapStore(memory, async () => {
      if (calls++ === point) await other.put(image, "gif", 10);
    });
    await first.another({ store }).sweep();
    isOver = calls <= point;
    expect(await first.entries(), `call ${point}`).toHaveLength(isOver ? 0 : 1);
    // Once more for notes that the sweep removed.
    for (let round = 0; round < 2; round++) await first.sweep(5 * DAY_MS);
    expect((await memory.list("")).keys, `call ${point}`).toEqual(["rendition-notes/since"]);
    expect([...first.errors, ...other.errors]).toEqual([]);
  }
});

test("a use that is still being written keeps the renditions of its image", async () => {
  const memory = createMemoryBlobStore();
  const writing = signal();
  let isSlow = false;
  const store = tapStore(memory, async ({ method, key }) => {
    if (isSlow && method === "put" && key.endsWith("/notes")) await writing.promise;
  });
  const { clock, cache, create, put, names, sweep } = createCacheSite({ store, idleDays: 4 });
  const image = create();
  await put(image, "png", 10);
  isSlow = true;
  clock.now += 3 * DAY_MS;
  cache.used(image, keyOf(image, "png"));
  await new Promise(setImmediate);
  const swept = sweep(2 * DAY_MS);
  await new Promise(setImmediate);
  expect(await names(image)).toEqual(["png"]);
  writing.give();
  await Promise.all([swept, cache.close()]);
  expect(await names(image)).toEqual(["png"]);
  expect((await cache.notes.read(image)).usedAt).toBe(NOON + 3 * DAY_MS);
});

test("an image whose life is extended keeps its renditions until idleDays after their last use", async () => {
  const { clock, living, create, put, names, sweep, entries } = createCacheSite({ idleDays: 30 });
  const image = create({ expiresAt: clock.now + DAY_MS });
  await put(image, "png", 100);
  living.set(image.id, { ...image, expiresAt: null });
  await sweep(2 * DAY_MS);
  expect((await entries()).map(({ dueMs }) => dueMs)).toEqual([NOON + 30 * DAY_MS + HOUR_MS]);
  await sweep(28 * DAY_MS);
  expect(await names(image)).toEqual(["png"]);
  await sweep(HOUR_MS);
  expect(await names(image)).toEqual([]);
});

describe("after a crash at any call of a store", () => {
  /** A store that fails from a call on. */
  function dyingStore(memory: BlobStore, calls: number): { store: BlobStore; isAlive(): boolean } {
    let left = calls;
    const store = tapStore(memory, () => {
      if (left-- <= 0) throw new ServiceError("store_unavailable", "crash");
    });
    return { store, isAlive: () => left >= 0 };
  }

  test("renditions just stored are removed when they are idle, and the limit holds", async () => {
    for (let point = 0, isOver = false; !isOver; point++) {
      const memory = createMemoryBlobStore();
      const { store, isAlive } = dyingStore(memory, point);
      const dying = createCacheSite({ store, idleDays: 4 });
      const image = dying.create();
      const next = dying.another({ store: memory });
      for (let side = 1; side <= 63; side++) await next.put(image, `gif-${side}x${side}`, 1);
      for (const side of [1, 2, 3]) await dying.put(image, `png-${side}x${side}`, 1).catch(() => undefined);
      isOver = isAlive();
      for (const side of [4, 5]) await next.put(image, `png-${side}x${side}`, 1);
      // A rendition that the crash left unnoted is beside those that are noted.
      expect((await next.names(image)).length, `call ${point}`).toBeLessThanOrEqual(65);
      await next.sweep(4 * DAY_MS + HOUR_MS);
      expect(await next.names(image), `call ${point}`).toEqual([]);
      expect(await next.entries(), `call ${point}`).toEqual([]);
      expect(next.errors).toEqual([]);
    }
  });

  test("a sweep is completed by the next, and removes no rendition that was used", async () => {
    for (let point = 0, isOver = false; !isOver; point++) {
      const memory = createMemoryBlobStore();
      const first = createCacheSite({ store: memory, idleDays: 4 });
      const [idle, used] = [first.create(), first.create()];
      await first.put(idle, "png", 10);
      await first.put(used, "png", 10);
      first.clock.now += 3 * DAY_MS;
      first.cache.used(used, keyOf(used, "png"));
      await first.cache.close();
      const { store, isAlive } = dyingStore(memory, point);
      await first
        .another({ store })
        .sweep(2 * DAY_MS)
        .catch(() => undefined);
      isOver = isAlive();
      await first.another().sweep(HOUR_MS);
      expect([await first.names(idle), await first.names(used)], `call ${point}`).toEqual([[], ["png"]]);
      await first.sweep(4 * DAY_MS + HOUR_MS);
      expect((await memory.list("")).keys, `call ${point}`).toEqual(["rendition-notes/since"]);
    }
  });
});

test("an image that cannot be swept is retried later, and does not hold up the others", async () => {
  const { clock, cache, living, errors, create, put, names, entries } = createCacheSite({ idleDays: 1 });
  const [broken, other] = [create(), create()];
  for (const image of [broken, other]) await put(image, "png", 10);
  const failing = vi.spyOn(living, "get").mockImplementation((id) => {
    if (id === broken.id) throw new ServiceError("store_unavailable", "gone");
    return other;
  });
  clock.now += 2 * DAY_MS;
  await cache.sweep(() => true);
  expect([await names(broken), await names(other)]).toEqual([["png"], []]);
  expect(errors).toMatchObject([{ code: "store_unavailable" }]);
  expect((await entries()).map(({ id }) => id)).toEqual([broken.id]);
  failing.mockRestore();
  clock.now += HOUR_MS;
  await cache.sweep(() => true);
  expect(await names(broken)).toEqual([]);
});
