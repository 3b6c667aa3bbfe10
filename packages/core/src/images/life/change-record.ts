import { isServiceError, ServiceError } from "../../errors.ts";
import { addNextLook, dueEnd, expiryOf, nextLookAt } from "../record/image-life.ts";
import {
  type Gone,
  type GoneReason,
  type ImageRecord,
  type PurgeReason,
  purgedImageOf,
  summaryOf,
} from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { LifeContext } from "./life-context.ts";

/**
 * Replaces a record by compare-and-set. Rejects with `conflict` if it has changed since `current` was read. Resolves when no process
 * serves the earlier state by a read lease.
 */
export async function changeRecord(
  context: LifeContext,
  current: CurrentRecord,
  next: ImageRecord,
): Promise<CurrentRecord> {
  const { due, records, settings } = context;
  const { tombstoneMs } = settings;
  // An entry for an earlier time than the new one stays: its sweep adds the next entry.
  if (nextLookAt(next, tombstoneMs) < nextLookAt(current.record, tombstoneMs)) {
    await addNextLook(due, next, tombstoneMs);
  }
  // Never before the last change, so that `If-Modified-Since` stays correct when the clock is set back.
  const updatedAt = Math.max(settings.now(), current.record.updatedAt);
  const why = purgeReason(current.record, next);
  const purge = () => why !== null && settings.onPurge(purgedImageOf(current.record), why);
  try {
    const changed = await records.replace(current, { ...next, updatedAt });
    await records.settled(changed);
    purge();
    return changed;
  } catch (error) {
    if (!isServiceError(error, "conflict")) {
      // The change may be stored, and then a repeated call would find nothing to change.
      if (!isServiceError(error, "no_space")) purge();
      throw error;
    }
    throw new ServiceError("conflict", "Another request changed this image at the same time", {
      cause: error,
    });
  }
}

/** Why copies of the image in caches are outdated; `null`: they are not. */
function purgeReason(before: ImageRecord, after: ImageRecord): PurgeReason | null {
  // An image that is processed is in no cache, and no copy outlives an image that expires.
  if (before.processing !== null) return null;
  if (after.gone !== null) return after.gone.why === "deleted" ? "deleted" : null;
  // Also if it was withheld before: that call may have failed before it called the hook.
  if (after.withheld !== null) return "withheld";
  if (before.withheld !== null) return null;
  const isSamePicture = before.name === after.name && String(before.focus) === String(after.focus);
  return isSamePicture && expiryOf(before) <= expiryOf(after) ? null : "edited";
}

/**
 * Ends an image for good, by compare-and-set: it stays gone even if the clock is set back. Its bytes remain until a
 * sweep. The caller adds the due entry for that sweep.
 */
export async function endImage(
  context: LifeContext,
  current: CurrentRecord,
  gone: Gone,
): Promise<CurrentRecord> {
  const ended = await changeRecord(context, current, endedRecord(current.record, gone));
  reportRemoved(context, current.record, gone.why);
  return ended;
}

/** Attempts of a write. Losing this often cannot be due to concurrent writers alone. */
export const MAX_ATTEMPTS = 100;

/** The record of an ended image, without data about the picture or its uploader. */
export function endedRecord(record: ImageRecord, gone: Gone): ImageRecord {
  const { placeholder: _placeholder, color: _color, alpha: _alpha, ...kept } = record;
  return { ...kept, name: "", agent: null, sha256: "", gone };
}

/** Logs the end of an image, and calls `onRemoved` if the image was ever ready. */
export function reportRemoved({ settings }: LifeContext, record: ImageRecord, why: GoneReason): void {
  settings.log.info({ id: record.id, why }, "image removed");
  // `onStored` was never called for an image that was not ready.
  if (record.processing !== null) return;
  settings.onRemoved(summaryOf(record), why);
}

/** Ends an image whose end is due by its dates. Does nothing if another process has ended it. */
export async function endWhereDue(
  context: LifeContext,
  current: CurrentRecord,
): Promise<CurrentRecord | null> {
  let latest: CurrentRecord | null = current;
  for (let attempt = 1; latest !== null; attempt++) {
    const gone = dueEnd(latest.record, context.settings.now());
    if (gone === null) return latest;
    try {
      return await endImage(context, latest, gone);
    } catch (error) {
      if (!isServiceError(error, "conflict") || attempt === MAX_ATTEMPTS) throw error;
      latest = await context.records.load(current.record.id);
    }
  }
  return null;
}
