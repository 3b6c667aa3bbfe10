import type { DueEntry } from "../../contracts/due-index.ts";
import { ServiceError } from "../../errors.ts";
import type { ProcessingContext } from "../processing/processing-context.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";

/** What has no record so long after it arrived is what a crash left of an upload that nobody was told of. */
export const ORPHAN_MS = 15 * 60_000;

/**
 * The entry by which the sweep finds an upload, whatever becomes of it: noted before the first byte is stored, so that
 * nothing is ever there that nobody knows of.
 */
export interface Arrival {
  /** To be awaited before bytes are stored. */
  noted: Promise<void>;
  /**
   * To be called when the record is written: rejects when that took so long that the sweep may have taken the bytes for
   * left-overs. Then the record is gone again.
   */
  confirm(): Promise<void>;
  /** Removes what was stored, and the entry. Never rejects: what cannot be removed now the sweep removes. */
  takeBack(): Promise<void>;
}

export function noteArrival(context: ProcessingContext, { id, expiresAt }: ImageRecord): Arrival {
  const { due, originals, records, settings } = context;
  const entry: DueEntry = { id, dueMs: settings.now() + ORPHAN_MS };
  const noted = due.add(entry);
  // Whoever stores bytes hears of it; an upload that is refused before need not.
  noted.catch(() => undefined);
  return {
    noted,
    async confirm() {
      if (settings.now() >= entry.dueMs) {
        await records.remove(id);
        throw new ServiceError("store_unavailable", `Storing image ${id} took too long`);
      }
      // Later ones are noted at the first look.
      if (expiresAt < entry.dueMs) await due.add({ id, dueMs: expiresAt }).catch(settings.onError);
    },
    async takeBack() {
      try {
        // Without the entry nothing was stored.
        if (!(await isFulfilled(noted))) return;
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
