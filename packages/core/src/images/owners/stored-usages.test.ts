import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOwnerSite } from "../../../test/owner-site.ts";
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
