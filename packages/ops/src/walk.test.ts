import { expect, test } from "vitest";
import type { BlobStore, StorageRoles } from "../../core/src/contracts/blob-store.ts";
import { ServiceError } from "../../core/src/errors.ts";
import { createImageId } from "../../core/src/images/record/image-record.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { countKeys, type KeyWalk, keysOfRole } from "./walk.ts";

const BYTES = Buffer.from("x");
const walk: KeyWalk = { retry: (work) => work() };

function rolesIn(store: BlobStore): StorageRoles {
  return { records: store, originals: store, renditions: store };
}

/** A store with images, and keys at both ends and in the middle of the key space. */
async function stocked(images: number): Promise<BlobStore> {
  const store = createMemoryBlobStore();
  for (let at = 0; at < images; at++) {
    const id = createImageId();
    for (const part of ["record", "original"]) await store.put(`${id}/${part}`, BYTES);
  }
  for (const key of ["-/a", "-", "Zz/z", "usage/a", "idempotency/a", "zzzz", "z/z"])
    await store.put(key, BYTES);
  return store;
}

test("a walk yields every key of a role once, page by page", async () => {
  const store = await stocked(700);
  const keys: string[] = [];
  for await (const key of keysOfRole(rolesIn(store), "records", walk)) keys.push(key);
  const { keys: first, cursor } = await store.list("");
  const all = [...first, ...(await store.list("", cursor === undefined ? {} : { cursor })).keys];
  expect(keys.sort()).toEqual(all.filter((key) => !key.endsWith("/original")).sort());
});

test("countKeys counts the keys of each role", async () => {
  const store = await stocked(50);
  expect(await countKeys(rolesIn(store), walk)).toEqual({ records: 57, originals: 50, renditions: 0 });
});

test("a failure to list a page rejects the walk", async () => {
  const store = await stocked(700);
  const failing: BlobStore = {
    ...store,
    async list(prefix, options) {
      if (options?.cursor !== undefined) throw new ServiceError("store_unavailable", "gone");
      return store.list(prefix, options);
    },
  };
  await expect(countKeys(rolesIn(failing), walk)).rejects.toMatchObject({ code: "store_unavailable" });
});
