import { type BlobStore, hasBulkRemoval } from "../../contracts/blob-store.ts";
import { keyOf } from "../record/image-record.ts";
import type { StorageRoles } from "../record/storage-roles.ts";

/** Key segments, below an image's ID, of everything derived from its original. */
const MADE = ["renditions", "failures"] as const;

/** Removes the bytes of an image, and the notes about its renditions. Missing keys are no error. */
export async function removeStored(
  { records, originals, renditions }: StorageRoles,
  id: string,
): Promise<void> {
  // The writer of a rendition stored later finds that the image has ended, and removes the rendition.
  // One call names everything, since one store often keeps both: a directory is then flushed once.
  if (hasBulkRemoval(originals))
    await originals.removeNamed(`${id}/`, ["original", "upload", "notes", ...MADE]);
  else {
    await originals.delete(keyOf.original(id));
    await originals.delete(keyOf.upload(id));
  }
  await removeMade(renditions, id);
  // Most images in a directory have none.
  if ((await records.stat(keyOf.notes(id))) !== null) await records.delete(keyOf.notes(id));
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
