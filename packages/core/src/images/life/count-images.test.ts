import { expect, test } from "vitest";
import { createHastyDiskStore, createLifeSite } from "../../../test/life-site.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createImageId } from "../record/image-record.ts";

const RECORD = {
  v: 1,
  name: "a.png",
  type: "image/png",
  sha256: "00".repeat(32),
  width: 1,
  height: 1,
  pages: 1,
  agent: null,
  owner: null,
  createdAt: 0,
  updatedAt: 0,
  expiresAt: 4e12,
  gone: null,
  withheld: null,
  processing: null,
  failure: null,
};

/** Stores records of images. One in 50 is deleted; sizes differ by a factor of ten. */
async function fill(store: BlobStore, images: number): Promise<{ deleted: number; bytes: number }> {
  const totals = { deleted: 0, bytes: 0 };
  let next = 0;
  const storeSome = async () => {
    for (let index = next++; index < images; index = next++) {
      const id = createImageId();
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

test("stats() counts a directory and a store without queries", async () => {
  for (const store of [createHastyDiskStore(), createMemoryBlobStore()]) {
    const { deleted, bytes } = await fill(store, 100);
    // A directory of records may contain names that are not images.
    await store.put("owners/abc/1", Buffer.from("{}"));
    const { images } = createLifeSite({ store });
    const stats = await images.stats();
    expect(stats).toMatchObject({ images: 100, bytes, newer: 0 });
    expect(stats.states).toMatchObject({ ready: 100 - deleted, deleted });
  }
});
