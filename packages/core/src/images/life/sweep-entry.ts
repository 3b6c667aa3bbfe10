import { type DueEntry, MAX_DUE_MS } from "../../contracts/due-index.ts";
import { isServiceError } from "../../errors.ts";
import { addNextLook, isOver, nextLookAt } from "../record/image-life.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { endWhereDue } from "./change-record.ts";
import type { LifeContext } from "./life-context.ts";

/** Result of a sweep for one image: unchanged, bytes removed, or record removed as well. */
export type SweepOutcome = "kept" | "emptied" | "forgotten";

/**
 * Performs the due work of an image: first marks its record as gone, then removes its bytes, last the record.
 * Idempotent on any node. After a failure the entry remains, and the next sweep continues.
 * @param known The record, if the caller has just written it. @default it is read
 */
export async function sweepEntry(
  context: LifeContext,
  entry: DueEntry,
  known: CurrentRecord | null = null,
): Promise<SweepOutcome> {
  const { due, records, settings } = context;
  const { id } = entry;
  const found = known ?? (await records.load(id));
  const current = found === null ? null : await endWithRoom(context, found);
  if (current === null) {
    // The upload was cut off before its record was written, or a slower node left these bytes behind.
    await context.removeBytes(id);
    await due.remove(entry);
    return "forgotten";
  }
  const now = settings.now();
  const isEnded = isOver(current.record, now);
  if (isEnded) await empty(context, current);
  const dueMs = nextLookAt(current.record, settings.tombstoneMs);
  if (isEnded && dueMs <= now) {
    await records.remove(id);
    const { expiresAt } = current.record;
    if (expiresAt !== null) await due.remove({ id, dueMs: Math.min(expiresAt, MAX_DUE_MS) });
    await due.remove(entry);
    return "forgotten";
  }
  if (dueMs !== entry.dueMs) {
    await addNextLook(due, current.record, settings.tombstoneMs);
    await due.remove(entry);
  }
  return isEnded ? "emptied" : "kept";
}

/** Removes the bytes of an image, and releases them from its owner's usage. */
async function empty(context: LifeContext, current: CurrentRecord): Promise<void> {
  const { record } = current;
  await context.removeBytes(record.id);
  if (record.owner === null) return;
  await context.owners.release(record);
  try {
    await context.records.replace(current, { ...record, owner: null });
  } catch (error) {
    // Changed concurrently: the next sweep continues. Releasing twice counts once.
    if (isServiceError(error, "conflict")) return;
    throw error;
  }
  context.owners.settle(record);
}

/**
 * Ends an image whose end is due. On a full disk its bytes are removed first, to make room for the record of the end.
 */
async function endWithRoom(context: LifeContext, found: CurrentRecord): Promise<CurrentRecord | null> {
  try {
    return await endWhereDue(context, found);
  } catch (error) {
    if (!isServiceError(error, "no_space")) throw error;
    await context.removeBytes(found.record.id);
    return endWhereDue(context, found);
  }
}
