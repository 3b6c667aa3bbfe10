import { createHash, randomBytes } from "node:crypto";
import type { BlobStore } from "../../core/src/contracts/blob-store.ts";
import { createImageId } from "../../core/src/images/record/image-record.ts";
import { readAll } from "../../core/src/stores/blob-body.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";

export const DAY_MS = 86_400_000;

/** Stores an image with an original, a rendition and a record with these changes. */
export async function addImage(
  store: BlobStore,
  changes: object = {},
  original = randomBytes(100),
): Promise<string> {
  const id = createImageId();
  const sha256 = createHash("sha256").update(original).digest("hex");
  const times = { createdAt: 1, updatedAt: 1, expiresAt: Date.now() + 90 * DAY_MS };
  const file = { name: "a.png", type: "image/png", size: original.length, sha256 };
  await store.put(`${id}/original`, original);
  await store.put(`${id}/renditions/x.webp`, Buffer.from("drawn"));
  const state = { owner: null, gone: null, withheld: null, processing: null, failure: null };
  const record = { v: 1, id, ...file, ...times, ...state, ...changes };
  await store.put(`${id}/record`, Buffer.from(JSON.stringify(record)));
  return id;
}

/** A store with this many images. */
export async function stocked(images: number): Promise<{ store: BlobStore; ids: string[] }> {
  const store = createMemoryBlobStore();
  const ids: string[] = [];
  for (let index = 0; index < images; index++) ids.push(await addImage(store));
  return { store, ids };
}

/** The text of a blob; `null` if there is none. */
export async function textAt(store: BlobStore, key: string): Promise<string | null> {
  const blob = await store.get(key);
  return blob === null ? null : (await readAll(blob.body)).toString("latin1");
}

/** The texts of all blobs but those whose keys match. */
export async function contentOf(store: BlobStore, ignored: RegExp): Promise<Map<string, string | null>> {
  const content = new Map<string, string | null>();
  const { keys } = await store.list("");
  for (const key of keys.filter((each) => !ignored.test(each)).sort())
    content.set(key, await textAt(store, key));
  return content;
}
