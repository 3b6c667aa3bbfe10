import { expect, test } from "vitest";
import { created, eventually } from "../../../test/image-site.ts";
import { createLifeSite, willingRenderer } from "../../../test/life-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

/** A service without memory for bytes, with an image and its stored WebP. */
async function siteWithWebp(store: BlobStore = createMemoryBlobStore()) {
  const site = createLifeSite({ store, memoryBytes: 0 });
  const { id } = created(await site.create());
  const read = async (format: string, from = site) =>
    (await from.send("GET", `/api/images/${id}.${format}`)).status;
  const stored = async () => (await store.list(`${id}/renditions/`)).keys.length;
  expect(await read("webp")).toBe(200);
  await eventually(async () => expect(await store.stat(`${id}/notes`)).not.toBeNull());
  return { site, id, notes: `${id}/notes`, read, stored };
}

test("where notes cannot be written, a missing rendition is rendered, and one of an ended image is removed", async () => {
  const kept = createMemoryBlobStore();
  let isFull = false;
  const store = tapStore(kept, ({ method, key }) => {
    if (isFull && method === "put" && key.endsWith("/notes")) throw new ServiceError("no_space", "Full.");
  });
  const { site, id, read, stored } = await siteWithWebp(store);
  isFull = true;
  for (const key of (await kept.list(`${id}/renditions/`)).keys) await kept.delete(key);
  expect(await read("webp")).toBe(200);
  await eventually(() => expect(site.errors.length).toBeGreaterThan(0));
  const render = async () => {
    await site.images.remove(id);
    return { bytes: Buffer.from("late") };
  };
  const other = site.another({ renderer: Object.assign(willingRenderer(), { render }), memoryBytes: 0 });
  await read("gif", other);
  await other.images.close();
  expect(await stored()).toBe(0);
});

test("damaged notes are replaced, and no rendition is lost", async () => {
  for (const bytes of ["{", JSON.stringify({ stored: [["a", "b"]], failures: {} })]) {
    const { site, notes, read, stored } = await siteWithWebp();
    await site.store.put(notes, Buffer.from(bytes));
    const next = site.another({ renderer: willingRenderer(), memoryBytes: 0 });
    expect([await read("webp", next), await read("gif", next)]).toEqual([200, 200]);
    await next.images.close();
    expect(await stored()).toBe(2);
    expect(JSON.parse(String((await site.store.get(notes))?.body)).stored).toHaveLength(2);
  }
});

test("notes of a newer release are neither used nor changed", async () => {
  const { site, notes, read } = await siteWithWebp();
  const newer = Buffer.from(JSON.stringify({ v: 2, stored: [], failures: [] }));
  await site.store.put(notes, newer);
  const next = site.another({ renderer: willingRenderer(), memoryBytes: 0 });
  expect(await read("gif", next)).toBe(503);
  expect((await site.store.get(notes))?.body).toEqual(newer);
});
