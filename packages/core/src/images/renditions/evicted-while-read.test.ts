import { expect, test } from "vitest";
import { created, eventually } from "../../../test/image-site.ts";
import { createLifeSite, willingRenderer } from "../../../test/life-site.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const BYTES = Buffer.alloc(3 * 2 ** 20, "a rendition too large for memory ");

test.each([
  ["a whole rendition", undefined, 200, BYTES.length],
  ["a range of a rendition", "bytes=1000-1999", 206, 1000],
])("%s evicted at any step of a read is still answered in full", async (_what, range, status, length) => {
  const memory = createMemoryBlobStore();
  let reads = Number.POSITIVE_INFINITY;
  const store: BlobStore = {
    ...memory,
    async get(key, options) {
      // Another process evicts the blob before this read.
      if (key.includes("/renditions/") && reads-- === 0) await memory.delete(key);
      return memory.get(key, options);
    },
  };
  const renderer = Object.assign(willingRenderer(), { render: async () => ({ bytes: BYTES }) });
  const site = createLifeSite({ store, renderer, memoryBytes: 0 });
  const { id } = created(await site.create());
  const read = () =>
    site.send("GET", `/api/images/${id}.webp`, { headers: range === undefined ? {} : { range } });
  const isStored = () =>
    eventually(async () => expect((await memory.list(`${id}/renditions/`)).keys).toHaveLength(1));
  await read();
  for (let moment = 0; moment < 4; moment++) {
    await isStored();
    reads = moment;
    const answer = await read();
    expect([moment, answer.status, answer.text.length]).toEqual([moment, status, length]);
    reads = Number.POSITIVE_INFINITY;
  }
  expect(site.errors).toEqual([]);
});
