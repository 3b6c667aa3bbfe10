import { type BlobStore, isLocalStore } from "../../contracts/blob-store.ts";
import type { RenderSource } from "../../contracts/renderer.ts";
import { readAll } from "../../stores/read-all.ts";

/** A stored file as a renderer reads it, by path if the store can, else as bytes; and its size in bytes. `null`: no such key. */
export async function openSource(
  store: BlobStore,
  key: string,
): Promise<{ source: RenderSource; size: number } | null> {
  if (isLocalStore(store)) {
    const info = await store.stat(key);
    const path = await store.localPath(key);
    return info === null || path === null ? null : { source: { path }, size: info.size };
  }
  const blob = await store.get(key);
  return blob === null ? null : { source: { bytes: await readAll(blob.body) }, size: blob.size };
}
