import type { DueEntry } from "../../contracts/due-index.ts";
import { ServiceError } from "../../errors.ts";
import type { ProcessingContext } from "../processing/processing-context.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";

/** An upload without a record after this time was orphaned by a crash before its reply; the sweeper deletes it. */
export const ORPHAN_MS = 15 * 60_000;

/** Makes the sweeper find an upload, whatever becomes of it. Its entry is written before the first byte is stored. */
export interface OrphanWatch {
  /** To be awaited before bytes are stored. */
  written: Promise<void>;
  /**
   * To be called when the record is written. Rejects, and removes the record, when that took so long that the sweeper may
   * have deleted the bytes as orphaned.
   */
  requireInTime(): Promise<void>;
  /** Removes the stored bytes and the entry. Never rejects: the sweeper removes what remains. */
  removeStored(): Promise<void>;
}

export function watchForOrphan(context: ProcessingContext, { id, expiresAt }: ImageRecord): OrphanWatch {
  const { due, originals, records, settings } = context;
  const entry: DueEntry = { id, dueMs: settings.now() + ORPHAN_MS };
  const written = due.add(entry);
  // An upload that is refused before bytes are stored does not await it.
  written.catch(() => undefined);
  return {
    written,
    async requireInTime() {
      if (settings.now() >= entry.dueMs) {
        await records.remove(id);
        throw new ServiceError("store_unavailable", `Storing image ${id} took too long`);
      }
      // The sweep of this entry adds one for a later end.
      if (expiresAt < entry.dueMs) await due.add({ id, dueMs: expiresAt }).catch(settings.onError);
    },
    async removeStored() {
      try {
        // Without the entry no byte was stored.
        if (!(await isFulfilled(written))) return;
        // A write that failed may have been done all the same.
        await records.remove(id);
        await originals.delete(keyOf.original(id));
        await due.remove(entry);
      } catch (error) {
        settings.onError(error);
      }
    },
  };
}

async function isFulfilled(promise: Promise<void>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
