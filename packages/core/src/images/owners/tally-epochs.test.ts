import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOwnerSite } from "../../../test/owner-site.ts";
import { ServiceError } from "../../errors.ts";
import { createFsBlobStore } from "../../stores/fs/fs-blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const OWNER = "owner";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "outrigger-owners-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

test("a tally keeps at most two epochs on disk", async () => {
  const directory = await mkdtemp(join(root, "epochs-"));
  const store = createFsBlobStore({ directory });
  const site = createOwnerSite(store, 10);
  const usage = site.start();
  for (let round = 0; round < 95; round++) await usage.reserve(OWNER, `image-${round}`, 1, {});
  const { keys } = await store.list("owners/");
  expect(keys.map((key) => key.replace(/^owners\/[0-9a-f]{64}\//, ""))).toEqual(["10", "9"]);
  const files = await readdir(join(directory, "blobs"), { recursive: true, withFileTypes: true });
  expect(files.filter((file) => !file.isDirectory()).length).toBeLessThanOrEqual(2 * (10 + 1));
  expect(await usage.usage(OWNER)).toEqual({ images: 95, bytes: 95 });
});

test("a writer that was suspended for two epochs continues in the current epoch", async () => {
  const store = createMemoryBlobStore();
  const site = createOwnerSite(store, 5);
  const awake = site.start();
  for (let round = 0; round < 5; round++) await awake.reserve(OWNER, `image-${round}`, 1, {});
  // The writer stalls with the sealed first epoch in memory, before it creates the second.
  let wake: (() => void) | undefined;
  const slept = new Promise<void>((resolve) => {
    wake = resolve;
  });
  let isAsleep = false;
  const sleeper = site.start({
    ...store,
    async put(key, body, options) {
      if (!isAsleep) {
        isAsleep = true;
        await slept;
      }
      return store.put(key, body, options);
    },
  });
  const reserved = sleeper.reserve(OWNER, "late", 1, { images: 30 });
  await expect.poll(() => isAsleep).toBe(true);
  for (let round = 5; round < 29; round++) await awake.reserve(OWNER, `image-${round}`, 1, {});
  expect((await store.list("owners/")).keys.map((key) => key.split("/")[2])).toEqual(["5", "6"]);
  wake?.();
  await reserved;
  expect((await store.list("owners/")).keys.map((key) => key.split("/")[2])).toEqual(["5", "6"]);
  expect(await awake.usage(OWNER)).toEqual({ images: 30, bytes: 30 });
  await expect(awake.reserve(OWNER, "more", 1, { images: 30 })).rejects.toThrow(/30 images/);
});

test("reserve() gives up with overloaded and a time to retry if the tally keeps changing", async () => {
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
