import { statfs } from "node:fs/promises";
import type { StorageRoles } from "../../contracts/blob-store.ts";
import { type BlobStore, hasBulkRemoval, isLocalStore } from "../../contracts/blob-store.ts";
import { readAll } from "../../stores/blob-body.ts";
import { createDueList } from "../../stores/due-list.ts";
import { listAll } from "../../stores/list-all.ts";
import { jsonIn, keyOf } from "../record/image-record.ts";
import { idleAtIn } from "./rendition-notes.ts";

/** Key segment, below an image's ID, of everything derived from its original. */
const MADE = "renditions";

/** List of the images with stored renditions, due when they are idle; see {@link RenditionCache}. */
export const IDLE_LIST = "renditions";

/** Removes the bytes of an image, the notes about its renditions and their due entry. Missing keys are no error. */
export async function removeStored(
  { records, originals, renditions }: StorageRoles,
  id: string,
): Promise<void> {
  const notes = await records.get(keyOf.notes(id));
  const idleAt = notes && idleAtIn(jsonIn(await readAll(notes.body)));
  // The writer of a rendition stored later finds that the image has ended, and removes the rendition.
  // One call names everything, since one store often keeps both: a directory is then flushed once.
  if (hasBulkRemoval(originals)) await originals.removeNamed(`${id}/`, ["original", "upload", "notes", MADE]);
  else {
    await originals.delete(keyOf.original(id));
    await originals.delete(keyOf.upload(id));
  }
  const idle = createDueList(records, IDLE_LIST);
  if (renditions !== originals || !hasBulkRemoval(originals)) {
    await removeMade(renditions, id).catch((error) => {
      if (renditions === originals || renditions === records) throw error;
      // A store of renditions that does not work keeps nothing from ending: a sweep of idle images removes them later.
      return idle.add({ id, dueMs: 0 });
    });
  }
  if (notes !== null) await records.delete(keyOf.notes(id));
  if (idleAt !== null) await idle.remove({ id, dueMs: idleAt });
}

/** Removes everything derived from the original of an image. */
export async function removeMade(renditions: BlobStore, id: string): Promise<void> {
  if (hasBulkRemoval(renditions)) await renditions.removeNamed(`${id}/`, [MADE]);
  else await removeAll(renditions, `${id}/${MADE}/`);
}

/** Removes every blob whose key begins with `prefix`. */
export async function removeAll(store: BlobStore, prefix: string): Promise<void> {
  for await (const key of listAll(store, prefix)) await store.delete(key);
}

/** Keys of all stored blobs derived from an image. */
export async function storedKeys(store: BlobStore, id: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of listAll(store, keyOf.rendition(id, ""))) keys.push(key);
  return keys;
}

/** A directory stores no rendition while less than 1/20 of its disk is free. */
const LEAST_FREE_PART = 20;

/** Whether a store is a directory on a nearly full disk. `false` if that is unknown. */
export async function isNearlyFull(store: BlobStore): Promise<boolean> {
  if (!isLocalStore(store)) return false;
  const disk = await statfs(store.blobDirectory).catch(() => null);
  return disk !== null && disk.bavail * LEAST_FREE_PART < disk.blocks;
}
