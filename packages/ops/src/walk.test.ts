import { expect, test } from "vitest";
import type { BlobStore, RangeListing, StorageRoles } from "../../core/src/contracts/blob-store.ts";
import { ServiceError } from "../../core/src/errors.ts";
import { createImageId } from "../../core/src/images/record/image-record.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { countKeys, type KeyWalk, keysOfRole } from "./walk.ts";

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

test.each([1, 7, 8, 64, 256])("a walk of %d ranges yields every key once", async (count) => {
  const store = await stocked(700);
  const keys: string[] = [];
  for await (const key of keysOfRole(rolesIn(store), "records", walk(count))) keys.push(key);
  const { keys: first, cursor } = await store.list("");
  const all = [...first, ...(await store.list("", cursor === undefined ? {} : { cursor })).keys];
  expect(keys.sort()).toEqual(all.filter((key) => !key.endsWith("/original")).sort());
});

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
