import { describe, expect, test } from "vitest";
import {
  bytesIn,
  createBoundsSite,
  DAY_MS,
  HOUR_MS,
  idsOf,
  keyOf,
  ledgerOf,
  storedOf,
} from "../../../../test/bounds-site.ts";
import type { BlobStore } from "../../../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../../stores/memory/memory-blob-store.ts";
import { createImageId } from "../../record/image-id.ts";
import { createUsageLedger, USAGE_PREFIX } from "./usage-ledger.ts";

describe("the usage ledger", () => {
  test("lists exactly the stored images after two processes wrote to it at once", async () => {
    const site = createBoundsSite({ maxBytes: 1e9 });
    const other = site.another();
    const ids = idsOf(100);
    for (let turn = 0; turn < 40; turn++) {
      site.clock.now += HOUR_MS;
      for (const id of ids.slice(turn, turn + 10)) {
        await Promise.all([site.put(id, 10, `one${turn}`), other.put(id, 10, `other${turn}`)]);
      }
      await Promise.all([site.keep(), other.keep()]);
    }
    const entries = await ledgerOf(site.store);
    expect([...entries.keys()].sort()).toEqual(ids.slice(0, 49).sort());
    expect((await site.store.list(`${USAGE_PREFIX}/`)).keys.length).toBeLessThan(64 + 40);
  });

  test("drops an image that was removed", async () => {
    const { store, bounds, put, keep } = createBoundsSite({ idleDays: 1 });
    const [id = "", other = ""] = idsOf(2);
    await put(id, 10);
    await put(other, 10);
    await keep();
    bounds.removed(id);
    await keep(HOUR_MS);
    bounds.used(other, keyOf(other));
    await keep(2 * DAY_MS);
    expect([...(await ledgerOf(store)).keys()]).not.toContain(id);
  });

  test("finds renditions stored without a note, as after a crash or a migration", async () => {
    const { store, put, another } = createBoundsSite({ idleDays: 3 });
    const ids = idsOf(30);
    // This process ends before it writes its notes.
    for (const id of ids) await put(id, 10);
    const next = another();
    await next.keep(HOUR_MS);
    await next.keep(6 * HOUR_MS);
    const entries = await ledgerOf(store);
    expect([...entries.keys()].sort()).toEqual([...ids].sort());
    await next.keep(4 * DAY_MS);
    expect(await bytesIn(store)).toBe(0);
  });

  test("adds an unlisted image when one of its renditions is served", async () => {
    const { store, bounds, keep } = createBoundsSite({ idleDays: 3, maxBytes: 100 });
    await keep();
    const [id = ""] = idsOf(1);
    await store.put(keyOf(id), Buffer.alloc(500));
    bounds.used(id, keyOf(id));
    await keep(4 * DAY_MS);
    expect((await ledgerOf(store)).has(id)).toBe(true);
  });

  test("counts nothing twice after a crash between writing a shard and removing its predecessors", async () => {
    const memory = createMemoryBlobStore();
    let isFailing = false;
    const store: BlobStore = {
      ...memory,
      async delete(key) {
        if (isFailing && key.startsWith(USAGE_PREFIX)) throw new Error("crash");
        return memory.delete(key);
      },
    };
    const { put, bounds, another } = createBoundsSite({ store });
    const ids = idsOf(20);
    // Each is stored twice: the batch names sum up to 16,000 bytes, which is over the limit.
    for (const id of [...ids, ...ids]) await put(id, 400);
    await bounds.close();
    isFailing = true;
    await expect(another({ maxBytes: 10_000 }).keep(HOUR_MS)).rejects.toThrow("crash");
    isFailing = false;
    await another({ maxBytes: 10_000 }).keep(HOUR_MS);
    expect(await bytesIn(memory)).toBe(8000);
    const { shards, bytes } = await createUsageLedger(memory).keys();
    expect([...shards.values()].every((each) => each.length === 1)).toBe(true);
    expect(bytes).toBe(8000);
  });

  test("loses no entry in a crash at any call of a pass that merges notes, measures and evicts", async () => {
    for (let point = 0, isOver = false; !isOver; point++) {
      const memory = createMemoryBlobStore();
      const first = createBoundsSite({ store: memory });
      const old = idsOf(4);
      const ids = [...old, ...idsOf(6)];
      for (const id of ids) {
        await first.store.put(`${id}/original`, Buffer.alloc(1));
        await first.put(id, 1000);
        if (id === old.at(-1)) first.clock.now += 2 * HOUR_MS;
      }
      first.bounds.used(createImageId(), "unknown");
      await first.bounds.close();
      let calls = 0;
      const dies = (method: keyof BlobStore) =>
        ((...args: never[]) => {
          if (calls++ >= point) throw new Error("crash");
          return Reflect.apply(memory[method], memory, args);
        }) as never; // Typed like the method that it replaces.
      const dying: BlobStore = {
        ...memory,
        ...{
          put: dies("put"),
          get: dies("get"),
          list: dies("list"),
          delete: dies("delete"),
          stat: dies("stat"),
        },
      };
      const { clock } = first;
      isOver = await createBoundsSite({ store: dying, clock, maxBytes: 8000 })
        .keep(7 * HOUR_MS)
        .then(
          () => true,
          () => false,
        );
      await createBoundsSite({ store: memory, clock, maxBytes: 8000 }).keep(7 * HOUR_MS);
      const stored = await storedOf(memory, ids);
      // Any of the oldest images may be evicted within the deciding hour.
      expect(stored.slice(4), `call ${point}`).toEqual(Array(6).fill(true));
      const left = ids.filter((_id, index) => stored[index]);
      // An image evicted right before the crash may stay listed until the next eviction.
      expect([...(await ledgerOf(memory)).keys()], `call ${point}`).toEqual(expect.arrayContaining(left));
      expect(await bytesIn(memory)).toBeLessThanOrEqual(8000);
      for (const id of ids) expect(await memory.stat(`${id}/original`)).not.toBeNull();
    }
  });

  test("is rebuilt after its blobs were damaged", async () => {
    const { store, put, keep, clock, another } = createBoundsSite({ maxBytes: 1000 });
    for (const id of idsOf(30)) await put(id, 100);
    await keep();
    for (const key of (await store.list(`${USAGE_PREFIX}/`)).keys) await store.put(key, Buffer.from("rot"));
    clock.now += 31 * DAY_MS;
    const later = another();
    for (const _ of Array(3)) await later.keep(HOUR_MS);
    expect(await bytesIn(store)).toBeLessThanOrEqual(1000);
  });

  test("of a newer release is left unchanged, and the pass rejects with store_unavailable", async () => {
    const { store, put, bounds, another } = createBoundsSite();
    const [id = ""] = idsOf(1);
    const key = `${USAGE_PREFIX}/notes/zz.1.abc`;
    await store.put(key, Buffer.from(JSON.stringify({ v: 99, images: {} })));
    await put(id, 100);
    await bounds.close();
    await expect(another({ maxBytes: 10 }).keep()).rejects.toMatchObject({ code: "store_unavailable" });
    expect(await store.stat(key)).not.toBeNull();
    expect(await storedOf(store, [id])).toEqual([true]);
  });
});

test("a use costs no store call, and a pass with nothing due costs one list of keys", async () => {
  const memory = createMemoryBlobStore();
  const calls: string[] = [];
  const store = Object.fromEntries(
    Object.entries(memory).map(([name, method]) => [
      name,
      (...args: unknown[]) => {
        calls.push(name);
        return Reflect.apply(method, memory, args);
      },
    ]),
  ) as unknown as BlobStore; // The same store with recorded calls.
  const { bounds, put, keep } = createBoundsSite({ store, maxBytes: 1e6 });
  const [id = ""] = idsOf(1);
  await put(id, 10);
  await keep();
  calls.length = 0;
  for (let turn = 0; turn < 100; turn++) bounds.used(id, keyOf(id));
  expect(calls).toEqual([]);
  await keep(4 * 60_000);
  expect(calls).toEqual([]);
  await keep(2 * 60_000);
  expect(calls).toEqual(["list"]);
});

test("without maxBytes and idleDays no usage is written", async () => {
  const { store, bounds, put, keep } = createBoundsSite({ idleDays: null });
  const [id = ""] = idsOf(1);
  await put(id, 10);
  bounds.removed(id);
  await keep(DAY_MS);
  await bounds.close();
  expect((await store.list(`${USAGE_PREFIX}/`)).keys).toEqual([]);
});
