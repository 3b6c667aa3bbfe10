import { isServiceError, ServiceError } from "../../errors.ts";
import { type ImageRecord, type PurgeReason, purgedImageOf } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { addNextSweep, expiryOf, nextSweepAt, readinessOf } from "../record/image-state.ts";
import type { LifeContext } from "./create-life.ts";

/** Attempts of a write. Losing this often cannot be due to concurrent writers alone. */
export const MAX_ATTEMPTS = 100;

/**
 * Replaces a record by compare-and-set. If `next` is the record of `current`, nothing is written, but its purge is repeated. Rejects
 * with `conflict` if the record has changed since `current` was read.
 */
export async function changeRecord(
  context: LifeContext,
  current: CurrentRecord,
  next: ImageRecord,
): Promise<CurrentRecord> {
  const { due, records, settings } = context;
  const { tombstoneMs } = settings;
  // An entry for an earlier time than the new one stays: its sweep adds the next entry. A sweep of another process may remove
  // the entry of a deletion while the record still lives, so the end of the tombstone gets an entry, too.
  if (nextSweepAt(next, tombstoneMs) < nextSweepAt(current.record, tombstoneMs)) {
    await addNextSweep(due, next, tombstoneMs);
  }
  // Never before the last change, so that `If-Modified-Since` stays correct when the clock is set back.
  const updatedAt = Math.max(settings.now(), current.record.updatedAt);
  const why = purgeReason(current.record, next);
  let mayBeStored = true;
  try {
    return next === current.record ? current : await records.replace(current, { ...next, updatedAt });
  } catch (error) {
    const isOvertaken = isServiceError(error, "conflict");
    mayBeStored = !isOvertaken && !isServiceError(error, "no_space");
    if (!isOvertaken) throw error;
    const message = "Another request changed this image at the same time";
    throw new ServiceError("conflict", message, { cause: error });
  } finally {
    // Also after a failure: the change may be stored, and then a repeated call would find nothing to change.
    if (mayBeStored && why !== null) settings.onPurge(purgedImageOf(current.record), why);
  }
}

/** Why copies of the image in caches are outdated; `null`: they are not. */
function purgeReason(before: ImageRecord, after: ImageRecord): PurgeReason | null {
  // An image that is processed or held is in no cache, and no copy outlives an image that expires.
  if (readinessOf(before) !== "ready") return null;
  if (after.gone !== null) return after.gone.why === "deleted" ? "deleted" : null;
  // Also if it was withheld before: that call may have failed before it called the hook.
  if (after.withheld !== null) return "withheld";
  if (before.withheld !== null) return null;
  const isSamePicture = before.name === after.name && String(before.focus) === String(after.focus);
  return isSamePicture && expiryOf(before) <= expiryOf(after) ? null : "edited";
}
