import type { DueEntry } from "../../contracts/due-index.ts";
import { isServiceError } from "../../errors.ts";
import { isOver } from "../record/image-life.ts";
import { type Gone, type ImageRecord, purgedImageOf } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { endedRecord, endImage, reportRemoved } from "./change-record.ts";
import type { LifeContext } from "./life-context.ts";

/** A deleted image, and the due entry by which the sweep removes any bytes that the caller does not. */
export interface Deletion {
  record: ImageRecord;
  /** The record as it was written; `null`: a full store has none. */
  current: CurrentRecord | null;
  entry: DueEntry;
}

/**
 * Ends a living image as deleted. Its bytes stay until {@link sweepEntry}. Rejects with `conflict` after a concurrent
 * change.
 * @param isLost Whether the reason is that its bytes are missing or damaged.
 */
export async function markDeleted(
  context: LifeContext,
  current: CurrentRecord,
  isLost = false,
): Promise<Deletion> {
  const { due, records, settings } = context;
  const { id, processing } = current.record;
  const entry = { id, dueMs: settings.now() };
  const gone: Gone = { at: entry.dueMs, why: "deleted", ...(isLost ? { lost: true } : {}) };
  try {
    await due.add(entry);
    const ended = await endImage(context, current, gone);
    return { record: ended.record, current: ended, entry };
  } catch (error) {
    if (processing === null) {
      if (!isServiceError(error, "no_space")) throw error;
      return { ...(await markDeletedWithoutRoom(context, current, gone)), entry };
    }
    // While an image is processed, only the lease holder changes it. A deletion does not depend on those changes.
    if (!isServiceError(error, "conflict")) throw error;
    const changed = await records.load(id);
    if (changed === null || isOver(changed.record, settings.now())) throw error;
    return markDeleted(context, changed, isLost);
  }
}

/**
 * Deletes an image from a store that is too full for the changed record. Removing the old record and the bytes makes
 * room for the new record; until that is written, the image is unknown. No revision is compared, as no other node can
 * write either.
 */
async function markDeletedWithoutRoom(
  context: LifeContext,
  { record }: CurrentRecord,
  gone: Gone,
): Promise<Omit<Deletion, "entry">> {
  const { owners, records, settings } = context;
  await records.remove(record.id);
  await records.outlastLeases(record);
  reportRemoved(context, record, gone.why);
  settings.onPurge(purgedImageOf(record), "deleted");
  await context.removeBytes(record.id);
  const shownUntil = settings.now();
  const removed = {
    ...endedRecord(record, gone),
    shownUntil,
    updatedAt: Math.max(shownUntil, record.updatedAt),
  };
  try {
    return { record: removed, current: await records.create(removed) };
  } catch (error) {
    settings.onError(error);
    // No record of the image remains, so no sweep would release its owner's bytes.
    await owners.release(record).catch(settings.onError);
    return { record: removed, current: null };
  }
}
