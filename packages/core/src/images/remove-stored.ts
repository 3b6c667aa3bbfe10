import type { BlobStore } from "../contracts/blob-store.ts";
import { keyOf } from "./image-record.ts";

/** Where the bytes of images are. */
export interface ByteStores {
  originals: BlobStore;
  renditions: BlobStore;
}

/** Removes the bytes of an image from both stores; what is not there is no error. */
export async function removeStored({ originals, renditions }: ByteStores, id: string): Promise<void> {
  await originals.delete(keyOf.original(id));
  await originals.delete(keyOf.upload(id));
  await removeAll(renditions, `${id}/renditions/`);
  await removeAll(renditions, `${id}/failures/`);
}

/** Removes every blob whose key begins with `prefix`. */
export async function removeAll(store: BlobStore, prefix: string): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await store.list(prefix, cursor === undefined ? {} : { cursor });
    for (const key of page.keys) await store.delete(key);
    cursor = page.cursor;
  } while (cursor !== undefined);
}
