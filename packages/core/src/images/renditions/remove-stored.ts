import { type BlobStore, hasBulkRemoval } from "../../contracts/blob-store.ts";
import { keyOf } from "../record/image-record.ts";

/** Where the bytes of images are. */
export interface ByteStores {
  originals: BlobStore;
  renditions: BlobStore;
}

/** Names below an image's of all that is made from its original. */
const MADE = ["renditions", "failures"] as const;

/** Removes the bytes of an image from both stores; what is not there is no error. */
export async function removeStored({ originals, renditions }: ByteStores, id: string): Promise<void> {
  // Originals first: a rendition that is stored afterwards finds its original gone, and its writer removes it.
  // One call names all, since one store often keeps both: a directory then flushes once.
  if (hasBulkRemoval(originals)) await originals.removeNamed(`${id}/`, ["original", "upload", ...MADE]);
  else {
    await originals.delete(keyOf.original(id));
    await originals.delete(keyOf.upload(id));
  }
  await removeMade(renditions, id);
}

/** Removes all that was made from the original of an image. */
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
