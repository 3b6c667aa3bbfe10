import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { createHastyDiskStore, createLifeSite } from "../../../test/life-site.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createImageId } from "../record/image-record.ts";
import { createImageAdmin } from "./image-admin.ts";

const SHARDS = Array.from({ length: 40 }, (_, index) => `${Math.floor(index / 10)}${index % 10}`);

const RECORD = {
  ...{ name: "a.png", type: "image/png", sha256: "00".repeat(32), width: 1, height: 1, pages: 1 },
  ...{ agent: null, owner: null, createdAt: 0, updatedAt: 0, expiresAt: 4e12 },
  ...{ gone: null, withheld: null, processing: null, failure: null },
};

/** Stores records of images. One in 50 is deleted; sizes differ by a factor of ten. */
async function fill(store: BlobStore, images: number): Promise<{ deleted: number; bytes: number }> {
  const totals = { deleted: 0, bytes: 0 };
  let next = 0;
  const storeSome = async () => {
    for (let index = next++; index < images; index = next++) {
      // In 40 shards, so that few images fill them.
      const id = `${SHARDS[randomInt(SHARDS.length)]}${createImageId().slice(2)}`;
      const isDeleted = index % 50 === 0;
      const size = 100 + (index % 10) * 100;
      if (isDeleted) totals.deleted++;
      else totals.bytes += size;
      const gone = isDeleted ? { at: 1, why: "deleted" } : null;
      await store.put(`${id}/record`, Buffer.from(JSON.stringify({ ...RECORD, id, size, gone })));
    }
  };
  await Promise.all(Array.from({ length: 50 }, storeSome));
  return totals;
}

test("stats() counts a directory exactly if it can be read within budgetMs", async () => {
  const store = createHastyDiskStore();
  const { deleted, bytes } = await fill(store, 100);
  // A shard may contain names that are not images.
  await store.put("owners/abc/1", Buffer.from("{}"));
  const seen: number[] = [];
  const stats = await createLifeSite({ store }).images.stats({
    onProgress: (images) => void seen.push(images),
  });
  expect(stats).toMatchObject({ images: 100, bytes, isEstimate: false, readShare: 1, margin: null });
  expect(stats.states).toMatchObject({ ready: 100 - deleted, deleted });
  expect(seen.at(-1)).toBe(100);
});

test("stats() without time left estimates, and the margins hold the true numbers in most of 100 runs", async () => {
  const store = createHastyDiskStore();
  const truth = await fill(store, 800);
  const { images } = createLifeSite({ store });
  const runs = 100;
  const misses = { images: 0, bytes: 0, deleted: 0, withheld: 0 };
  let sum = 0;
  for (let run = 0; run < runs; run++) {
    const stats = await images.stats({ budgetMs: 0 });
    const { margin } = stats;
    expect(stats.isEstimate).toBe(true);
    // 40 shards have images, and one has only the identity of the store.
    expect(stats.readShare).toBe(8 / 41);
    if (margin === null) throw new Error("An estimate without a margin");
    sum += stats.images;
    if (Math.abs(stats.images - 800) > margin.images) misses.images++;
    if (Math.abs(stats.bytes - truth.bytes) > margin.bytes) misses.bytes++;
    if (Math.abs(stats.states.deleted - truth.deleted) > margin.states.deleted) misses.deleted++;
    if (margin.states.withheld === 0) misses.withheld++;
  }
  // About 5 of 100 are expected outside the margin. Half a margin would leave 30 outside.
  for (const number of Object.values(misses)) expect(number).toBeLessThan(22);
  // The mean of all runs has a tenth of the error of one; a biased sample would show.
  expect(sum / runs).toBeGreaterThan(760);
  expect(sum / runs).toBeLessThan(840);
  expect(await images.stats({ budgetMs: 0, exact: true })).toMatchObject({ images: 800, isEstimate: false });
});

test("stats() reads a store without shards completely, even beyond budgetMs", async () => {
  const store = createMemoryBlobStore();
  await fill(store, 30);
  const admin = createImageAdmin({ storage: store });
  expect(await admin.stats({ budgetMs: 0 })).toMatchObject({ images: 30, isEstimate: false, margin: null });
});
