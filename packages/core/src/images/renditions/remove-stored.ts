import { type BlobStore, hasBulkRemoval } from "../../contracts/blob-store.ts";
import { keyOf } from "../record/image-record.ts";

/** The stores of image bytes. */
export interface ByteStores {
  originals: BlobStore;
  renditions: BlobStore;
}

/** Key segments, below an image's ID, of everything derived from its original. */
const MADE = ["renditions", "failures"] as const;

/** Removes the bytes of an image from both stores. Missing keys are no error. */
export async function removeStored({ originals, renditions }: ByteStores, id: string): Promise<void> {
  // Originals first: the writer of a rendition stored later finds the original gone and removes the rendition.
  // One call names everything, since one store often keeps both: a directory is then flushed once.
  if (hasBulkRemoval(originals)) await originals.removeNamed(`${id}/`, ["original", "upload", ...MADE]);
  else {
    await originals.delete(keyOf.original(id));
    await originals.delete(keyOf.upload(id));
  }
  await removeMade(renditions, id);
}

/** Removes everything derived from the original of an image. */
export async function removeMade(renditions: BlobStore, id: string): Promise<void> {
  if (hasBulkRemoval(renditions)) await renditions.removeNamed(`${id}/`, MADE);
  else for (const name of MADE) await removeAll(renditions, `${id}/${name}/`);
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
