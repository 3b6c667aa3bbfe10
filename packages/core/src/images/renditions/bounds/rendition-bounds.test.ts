import { describe, expect, test } from "vitest";
import type { BlobStore } from "../../../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../../stores/memory/memory-blob-store.ts";
import { createImageId } from "../../record/image-id.ts";
import { createRenditionBounds, type RenditionBoundsOptions } from "./rendition-bounds.ts";
import { createUsageLedger, USAGE_PREFIX } from "./usage-ledger.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOON = Date.parse("2026-03-01T12:00:00.000Z");

type SiteOptions = Partial<Pick<RenditionBoundsOptions, "maxBytes" | "idleDays">> & {
  store?: BlobStore;
  clock?: { now: number };
};

/** One process with rendition bounds. */
function createSite(options: SiteOptions = {}) {
  const { store = createMemoryBlobStore(), clock = { now: NOON }, maxBytes = null, idleDays = 30 } = options;
  const errors: unknown[] = [];
  const bounds = createRenditionBounds({
    ...{ store, maxBytes, idleDays, rankOf: () => "inTurn", now: () => clock.now },
    onError: (error) => errors.push(error),
  });
  const put = (id: string, bytes: number, name = "png") =>
    bounds.store({ id, size: 1 }, keyOf(id, name), Buffer.alloc(bytes));
  const keep = async (afterMs = 0) => {
    clock.now += afterMs;
    await bounds.keep(() => true);
  };
  const another = (more: SiteOptions = {}) => createSite({ store, clock, maxBytes, idleDays, ...more });
  return { store, clock, bounds, errors, put, keep, another };
}

const keyOf = (id: string, name = "png") => `${id}/renditions/${name}`;
const idsOf = (count: number) => Array.from({ length: count }, createImageId);

async function storedOf(store: BlobStore, ids: readonly string[]): Promise<boolean[]> {
  return Promise.all(ids.map(async (id) => (await store.stat(keyOf(id))) !== null));
}

async function bytesIn(store: BlobStore): Promise<number> {
  let bytes = 0;
  for (const key of (await store.list("")).keys) {
    if (key.includes("/renditions/")) bytes += (await store.stat(key))?.size ?? 0;
  }
  return bytes;
}

async function ledgerOf(store: BlobStore) {
  const ledger = createUsageLedger(store);
  const { shards, batches } = await ledger.keys();
  const keys = [...shards.values()].flat().map(({ key }) => key);
  return ledger.read([...keys, ...batches]);
}

describe("idle renditions of an image", () => {
  test("are removed after idleDays without use, and its other blobs stay", async () => {
    const { store, bounds, put, keep } = createSite({ idleDays: 7 });
    const [idle = "", used = ""] = idsOf(2);
    for (const id of [idle, used]) {
      await put(id, 100);
      await store.put(`${id}/failures/gif`, Buffer.from("no"));
      for (const part of ["record", "original", "upload"]) await store.put(`${id}/${part}`, Buffer.alloc(9));
    }
    await keep();
    await keep(4 * DAY_MS);
    bounds.used(used, keyOf(used));
    await keep(4 * DAY_MS);
    expect(await storedOf(store, [idle, used])).toEqual([false, true]);
    expect((await store.list(`${idle}/`)).keys.sort()).toEqual(
      ["original", "record", "upload"].map((part) => `${idle}/${part}`),
    );
    expect([...(await ledgerOf(store)).keys()]).toEqual([used]);
  });

  test("stay for ever without idleDays", async () => {
    const { store, put, keep } = createSite({ idleDays: null, maxBytes: 1000 });
    const [id = ""] = idsOf(1);
    await put(id, 100);
    for (let year = 0; year < 3; year++) await keep(365 * DAY_MS);
    expect(await storedOf(store, [id])).toEqual([true]);
  });

  test("stay while another process serves them", async () => {
    const site = createSite({ idleDays: 2 });
    const other = site.another();
    const [id = ""] = idsOf(1);
    await site.put(id, 100);
    for (let day = 0; day < 6; day++) {
      other.bounds.used(id, keyOf(id));
      await other.keep(DAY_MS);
      await site.keep();
    }
    expect(await storedOf(site.store, [id])).toEqual([true]);
  });
});

describe("the renditions of a store", () => {
  test("over maxBytes are evicted, least recently used images first, down to 90% of it", async () => {
    const { store, bounds, clock, put, another } = createSite();
    const ids = idsOf(90);
    for (const id of ids) {
      await put(id, 1000);
      clock.now += HOUR_MS;
    }
    const [first = ""] = ids;
    bounds.used(first, keyOf(first));
    const more = idsOf(20);
    for (const id of more) await put(id, 1000);
    await bounds.close();
    await another({ maxBytes: 100_000 }).keep(HOUR_MS);
    const left = await bytesIn(store);
    expect(left).toBeLessThanOrEqual(90_000);
    expect(left).toBeGreaterThanOrEqual(85_000);
    expect(await storedOf(store, [first])).toEqual([true]);
    expect(await storedOf(store, ids.slice(1, 20))).toEqual(Array(19).fill(false));
    expect(await storedOf(store, [...ids.slice(30), ...more])).toEqual(Array(80).fill(true));
  });

  test("are kept within maxBytes by the storing process without a sweep", async () => {
    const { store, put, bounds, errors } = createSite({ maxBytes: 1_000_000, idleDays: null });
    for (const id of idsOf(400)) await put(id, 10_000);
    await bounds.close();
    expect(await bytesIn(store)).toBeLessThanOrEqual(1_000_000 * (1 + 1 / 16) + 10_000);
    expect(errors).toEqual([]);
  });

  test("stay within maxBytes while four processes store and sweep at once", async () => {
    const site = createSite({ maxBytes: 200_000, idleDays: null });
    const sites = [site, site.another(), site.another(), site.another()];
    for (let turn = 0; turn < 20; turn++) {
      site.clock.now += HOUR_MS;
      await Promise.all(
        sites.map(async ({ put, keep }) => {
          for (const id of idsOf(10)) await put(id, 1000);
          await keep();
        }),
      );
    }
    for (const each of sites) await each.bounds.close();
    await createSite({ store: site.store, maxBytes: 200_000, clock: site.clock }).keep(HOUR_MS);
    expect(await bytesIn(site.store)).toBeLessThanOrEqual(200_000);
    expect(await bytesIn(site.store)).toBeGreaterThanOrEqual(100_000);
    expect(sites.flatMap(({ errors }) => errors)).toEqual([]);
  });
});

describe("the usage ledger", () => {
  test("lists exactly the stored images after two processes wrote to it at once", async () => {
    const site = createSite({ maxBytes: 1e9 });
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
    const { store, bounds, put, keep } = createSite({ idleDays: 1 });
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
    const { store, put, another } = createSite({ idleDays: 3 });
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
    const { store, bounds, keep } = createSite({ idleDays: 3, maxBytes: 100 });
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
    const { put, bounds, another } = createSite({ store });
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
      const first = createSite({ store: memory });
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
      isOver = await createSite({ store: dying, clock, maxBytes: 8000 })
        .keep(7 * HOUR_MS)
        .then(
          () => true,
          () => false,
        );
      await createSite({ store: memory, clock, maxBytes: 8000 }).keep(7 * HOUR_MS);
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
    const { store, put, keep, clock, another } = createSite({ maxBytes: 1000 });
    for (const id of idsOf(30)) await put(id, 100);
    await keep();
    for (const key of (await store.list(`${USAGE_PREFIX}/`)).keys) await store.put(key, Buffer.from("rot"));
    clock.now += 31 * DAY_MS;
    const later = another();
    for (const _ of Array(3)) await later.keep(HOUR_MS);
    expect(await bytesIn(store)).toBeLessThanOrEqual(1000);
  });

  test("of a newer release is left unchanged, and the pass rejects with store_unavailable", async () => {
    const { store, put, bounds, another } = createSite();
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
  const { bounds, put, keep } = createSite({ store, maxBytes: 1e6 });
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
  const { store, bounds, put, keep } = createSite({ idleDays: null });
  const [id = ""] = idsOf(1);
  await put(id, 10);
  bounds.removed(id);
  await keep(DAY_MS);
  await bounds.close();
  expect((await store.list(`${USAGE_PREFIX}/`)).keys).toEqual([]);
});
