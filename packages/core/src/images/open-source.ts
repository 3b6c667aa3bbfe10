import { type BlobStore, hasLocalFiles } from "../contracts/blob-store.ts";
import type { RenderSource } from "../contracts/renderer.ts";
import { readAll } from "../stores/read-all.ts";

/** A stored file as a renderer reads it: in place where the store can, else its bytes. `null`: no such key. */
export async function openSource(store: BlobStore, key: string): Promise<RenderSource | null> {
  if (hasLocalFiles(store)) {
    const path = await store.localPath(key);
    return path === null ? null : { path };
  }
  const blob = await store.get(key);
  return blob === null ? null : { bytes: await readAll(blob.body) };
}
