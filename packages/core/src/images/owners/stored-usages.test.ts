import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOwnerSite } from "../../../test/owner-site.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createFsBlobStore } from "../../stores/fs/fs-blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { hashOfName } from "../../stores/name-index.ts";

const OWNER = "owner";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "outrigger-owners-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

test("a usage that was changed often has one file and its anchor on disk", async () => {
  const directory = await mkdtemp(join(root, "files-"));
  const store = createFsBlobStore({ directory });
  const usage = createOwnerSite(store).start();
  for (let round = 0; round < 95; round++) await usage.reserve(OWNER, `image-${round}`, 1, {});
  expect((await store.list("")).keys).toEqual([`usage/${hashOfName(OWNER)}`]);
  const files = await readdir(join(directory, "blobs"), { recursive: true, withFileTypes: true });
  expect(files.filter((file) => file.isFile()).length).toBe(2);
  expect(await usage.usage(OWNER)).toEqual({ images: 95, bytes: 95 });
});

/** Stores the usage of an owner as earlier releases did. */
async function putEarlier(store: BlobStore, owner: string, number: number, images: number): Promise<void> {
  const stored = { v: 1, images, bytes: images * 10, turn: number, isSealed: true, open: {} };
  await store.put(`owners/${hashOfName(owner)}/${number}`, Buffer.from(JSON.stringify(stored)));
}

test("what earlier releases counted is counted on, and a sweep moves it and deletes its keys", async () => {
  const store = createMemoryBlobStore();
  for (const [number, images] of [
    [9, 8],
    [10, 9],
    [11, 10],
  ] as const)
    await putEarlier(store, "anna", number, images);
  await putEarlier(store, "carla", 1, 4);
  const site = createOwnerSite(store);
  const usage = site.start();
  expect(await usage.usage("anna")).toEqual({ images: 10, bytes: 100 });
  await usage.reserve("anna", "next", 5, { images: 11 });
  await expect(usage.reserve("anna", "more", 5, { images: 11 })).rejects.toThrow(/11 images/);
  await Promise.all([site.start().moveEarlier(() => true), usage.moveEarlier(() => true)]);
  expect((await store.list("")).keys.every((key) => key.startsWith("usage/"))).toBe(true);
  expect(await site.start().usage("anna")).toEqual({ images: 11, bytes: 105 });
  expect(await site.start().usage("carla")).toEqual({ images: 4, bytes: 40 });
});

test("reserve() gives up with overloaded and a time to retry if the usage keeps changing", async () => {
  const store = createMemoryBlobStore();
  const site = createOwnerSite({
    ...store,
    put: () => Promise.reject(new ServiceError("conflict", "The blob was changed by another process.")),
  });
  await expect(site.start().reserve(OWNER, "a", 1, {})).rejects.toMatchObject({
    code: "overloaded",
    retryAfterMs: expect.any(Number),
  });
});

test("reserve() rejects with the store's error, and succeeds once the store recovers", async () => {
  const store = createMemoryBlobStore();
  let isBroken = false;
  const site = createOwnerSite({
    ...store,
    put: async (...args) => {
      if (isBroken) throw new ServiceError("store_unavailable", "no answer");
      return store.put(...args);
    },
  });
  const usage = site.start();
  await usage.reserve(OWNER, "a", 1, {});
  isBroken = true;
  await expect(usage.reserve(OWNER, "b", 1, {})).rejects.toMatchObject({ code: "store_unavailable" });
  isBroken = false;
  await usage.reserve(OWNER, "b", 1, {});
  expect(await usage.usage(OWNER)).toEqual({ images: 2, bytes: 2 });
});
