import type { DueEntry } from "../../contracts/due-index.ts";
import { ServiceError } from "../../errors.ts";
import type { ProcessingContext } from "../processing/processing-context.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";

/** An upload without a record after this time was orphaned by a crash before its reply; the sweeper deletes it. */
export const ORPHAN_MS = 15 * 60_000;

/** Lets the sweeper find an upload if it is orphaned. The entry is written before the first byte is stored. */
export interface OrphanWatch {
  /** Await it before bytes are stored. */
  written: Promise<void>;
  /**
   * Call it when the record is written. If the upload took more than {@link ORPHAN_MS}, the sweeper may have deleted its bytes
   * as orphaned: removes the record and rejects.
   */
  requireInTime(): Promise<void>;
  /** Removes the stored bytes and the entry. Never rejects: the sweeper removes what remains. */
  removeStored(): Promise<void>;
}

export function watchForOrphan(context: ProcessingContext, { id, expiresAt }: ImageRecord): OrphanWatch {
  const { due, originals, records, settings } = context;
  const entry: DueEntry = { id, dueMs: settings.now() + ORPHAN_MS };
  const written = due.add(entry);
  // An upload that is rejected before bytes are stored does not await it.
  written.catch(() => undefined);
  return {
    written,
    async requireInTime() {
      if (settings.now() >= entry.dueMs) {
        await records.remove(id);
        throw new ServiceError("store_unavailable", `Storing image ${id} took too long. Upload it again`);
      }
      // For a later expiry, the sweep of this entry adds the next entry. An image that never expires needs none.
      if (expiresAt === null) await due.remove(entry).catch(settings.onError);
      else if (expiresAt < entry.dueMs) await due.add({ id, dueMs: expiresAt }).catch(settings.onError);
    },
    async removeStored() {
      try {
        // Without the entry, no byte was stored.
        if (!(await isFulfilled(written))) return;
        // A write that failed may still have taken effect.
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
