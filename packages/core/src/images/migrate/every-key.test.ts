import { expect, test } from "vitest";
import { type BlobStore, hasRangeListing, type RangeListing } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createImageId } from "../record/image-id.ts";
import type { StorageRoles } from "../record/storage-roles.ts";
import { countKeys, estimateKeys, type KeyWalk, keysOfRole } from "./every-key.ts";

const BYTES = Buffer.from("x");
const walk = (concurrency: number): KeyWalk => ({ retry: (work) => work(), concurrency });

function rolesIn(store: BlobStore): StorageRoles {
  return { records: store, originals: store, renditions: store };
}

/** A store with images, and keys at both ends and in the middle of the key space. */
async function stocked(images: number): Promise<BlobStore & RangeListing> {
  const store = createMemoryBlobStore();
  for (let at = 0; at < images; at++) {
    const id = createImageId();
    for (const part of ["record", "original"]) await store.put(`${id}/${part}`, BYTES);
  }
  for (const key of ["-/a", "-", "Zz/z", "usage/a", "idempotency/a", "zzzz", "z/z"])
    await store.put(key, BYTES);
  return store;
}

test.each([1, 7, 8, 64, 256])(
  "a walk of %d ranges yields every key once and ends with the whole share",
  async (count) => {
    const store = await stocked(700);
    const keys: string[] = [];
    const shares: (number | null)[] = [];
    let listed = 0;
    const onListed = (found: number, share: number | null) => {
      listed += found;
      shares.push(share);
    };
    for await (const key of keysOfRole(rolesIn(store), "records", { ...walk(count), onListed }))
      keys.push(key);
    const { keys: first, cursor } = await store.list("");
    const all = [...first, ...(await store.list("", cursor === undefined ? {} : { cursor })).keys];
    expect(keys.sort()).toEqual(all.filter((key) => !key.endsWith("/original")).sort());
    expect(listed).toBe(keys.length);
    expect(shares.at(-1)).toBeCloseTo(1, 9);
    expect(shares).toEqual([...shares].sort((one, other) => Number(one) - Number(other)));
  },
);

test("as many ranges are listed at once as given, each at most one page ahead", async () => {
  const store = await stocked(50);
  let running = 0;
  let most = 0;
  const slow: BlobStore & RangeListing = {
    ...store,
    async listRange(range, options) {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      return store.listRange(range, { ...options, limit: 2 });
    },
  };
  expect(await countKeys(rolesIn(slow), walk(16))).toEqual({ records: 57, originals: 50, renditions: 0 });
  expect(most).toBe(16);
});

test("a failure to list one range rejects the walk", async () => {
  const store = await stocked(50);
  const failing: BlobStore & RangeListing = {
    ...store,
    async listRange(range, options) {
      if (range.upTo === undefined) throw new ServiceError("store_unavailable", "gone");
      return store.listRange(range, options);
    },
  };
  await expect(countKeys(rolesIn(failing), walk(4))).rejects.toMatchObject({ code: "store_unavailable" });
});

test("the number of keys is estimated from a few pages, exact for few keys, and counted without ranges", async () => {
  const few = await stocked(500);
  expect(await estimateKeys(rolesIn(few), walk(8))).toEqual({ records: 507, originals: 500, renditions: 0 });
  const many = await stocked(10_000);
  let pages = 0;
  const counted: BlobStore & RangeListing = {
    ...many,
    listRange: (range, options) => {
      pages++;
      return many.listRange(range, options);
    },
  };
  const { records, originals } = await estimateKeys(rolesIn(counted), walk(8));
  expect(pages).toBe(4);
  // Six standard deviations of a sample of 2000 images.
  expect(Math.abs(originals - 10_000)).toBeLessThan(1300);
  expect(Math.abs(records - originals)).toBeLessThan(60);
  const plain = new Proxy(many, { has: (target, name) => name !== "listRange" && Reflect.has(target, name) });
  expect(hasRangeListing(plain)).toBe(false);
  expect(await estimateKeys(rolesIn(plain), walk(8))).toEqual({
    records: 10_007,
    originals: 10_000,
    renditions: 0,
  });
});
