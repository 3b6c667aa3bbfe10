import { type DueEntry, MAX_DUE_MS } from "../../contracts/due-index.ts";
import { isServiceError, onCode } from "../../errors.ts";
import {
  type Gone,
  type GoneReason,
  type ImageRecord,
  type LastAct,
  purgedImageOf,
} from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { addNextSweep, hasUndelivered, nextSweepAt, stateAt } from "../record/image-state.ts";
import { marksOf } from "../record/marks.ts";
import { changeRecord, MAX_ATTEMPTS } from "./change-record.ts";
import type { LifeContext } from "./create-life.ts";
import { newAct, settleAct } from "./settle-act.ts";

/*
 * An image ends in four steps: a due entry is added, the record is marked as gone by compare-and-set, the bytes are removed, and
 * when the tombstone is over, the record is removed. A deletion takes the first three, then a sweep the last. An image that
 * expires is ended by the first request or sweep that finds it so. After a failure at any step the entry remains, and the
 * next sweep continues.
 */

/**
 * Deletes an image: first its record ends, by compare-and-set, so that nothing is served any more, then its bytes are removed.
 * Rejects with `conflict` after a concurrent change.
 * @param by The operator. @default the act has no ID
 */
export async function removeImage(
  context: LifeContext & { jobs: { cancel(record: ImageRecord): void } },
  current: CurrentRecord,
  by?: string,
): Promise<void> {
  const { onError } = context.settings;
  const given = by === undefined ? {} : { act: newAct("remove", by) };
  const { current: ended, entry } = await markDeleted(context, current, given);
  // The image is gone already. The sweep removes the bytes that remain here.
  if (ended === null || ended.record.processing === null)
    return void (await sweepImage(context, entry, ended).catch(onError));
  // The lease holder still works on the bytes. It removes them.
  context.jobs.cancel(ended.record);
  await settleAct(context, ended.record).catch(onError);
}

/** An image that was marked as deleted. */
export interface Deletion {
  /** The record as it was written; `null`: a full store has none. */
  current: CurrentRecord | null;
  /** The due entry by which a sweep removes any bytes that the caller does not. */
  entry: DueEntry;
}

/**
 * Ends a living image as deleted. Its bytes stay until {@link sweepImage}. Rejects with `conflict` after a concurrent
 * change.
 * @param given `isLost`: the reason is that its bytes are missing or damaged. `act`: absent if no operator did it.
 */
export async function markDeleted(
  context: LifeContext,
  current: CurrentRecord,
  given: { isLost?: boolean; act?: Omit<LastAct, "at"> } = {},
): Promise<Deletion> {
  const { due, records, settings } = context;
  const { id, processing } = current.record;
  const entry = { id, dueMs: settings.now() };
  const gone: Gone = { at: entry.dueMs, why: "deleted", ...(given.isLost ? { lost: true } : {}) };
  const act = given.act && { ...given.act, at: gone.at };
  try {
    await due.add(entry);
    return { current: await endImage(context, current, gone, act), entry };
  } catch (error) {
    if (processing === null) {
      if (!isServiceError(error, "no_space")) throw error;
      return { current: await deleteWithoutRoom(context, current, gone, act), entry };
    }
    // While an image is processed, only the lease holder changes it. A deletion does not depend on those changes.
    if (!isServiceError(error, "conflict")) throw error;
    const changed = await records.load(id);
    if (changed === null || stateAt(changed.record, settings.now()).isOver) throw error;
    return markDeleted(context, changed, given);
  }
}

/** Ends an image for good, by compare-and-set: it stays gone even if the clock is set back. */
async function endImage(
  context: LifeContext,
  current: CurrentRecord,
  gone: Gone,
  act?: LastAct,
): Promise<CurrentRecord> {
  const ended = await changeRecord(context, current, endedRecord(current.record, gone, act));
  // The record of its end has no hashes. An entry that remains lists nothing.
  await context.copies.remove(current.record).catch(context.settings.onError);
  // `settleAct` does it, too.
  if (act === undefined) logRemoved(context, current.record, gone.why);
  return ended;
}

/** The record of an ended image, without data about the picture or its uploader. */
export function endedRecord(record: ImageRecord, gone: Gone, act?: LastAct): ImageRecord {
  const {
    placeholder: _placeholder,
    color: _color,
    alpha: _alpha,
    held: _held,
    sourceSha256: _,
    ...kept
  } = record;
  return { ...kept, name: "", agent: null, sha256: "", gone, act };
}

function logRemoved({ settings }: LifeContext, { id }: ImageRecord, why: GoneReason): void {
  settings.log.info({ id, why }, "image removed");
}

/**
 * Deletes an image from a store that is too full for the changed record. Removing the old record and the bytes makes
 * room for the new record; until that is written, the image is unknown. No revision is compared, as no other node can
 * write either.
 */
async function deleteWithoutRoom(
  context: LifeContext,
  { record }: CurrentRecord,
  gone: Gone,
  act?: LastAct,
): Promise<CurrentRecord | null> {
  const { events, owners, records, settings } = context;
  await records.remove(record.id);
  await context.copies.remove(record).catch(settings.onError);
  if (act === undefined) logRemoved(context, record, gone.why);
  settings.onPurge(purgedImageOf(record), "deleted");
  await removeBytes(context, record.id);
  const updatedAt = Math.max(settings.now(), record.updatedAt);
  const ended = { ...endedRecord(record, gone, act), updatedAt };
  try {
    return await records.create(ended, { before: record });
  } catch (error) {
    settings.onError(error);
    events.deliverUnstored(record, ended);
    // No record of the image remains, so no sweep would release its owner's bytes.
    await owners.release(record).catch(settings.onError);
    await settleAct(context, ended).catch(settings.onError);
    return null;
  }
}

/**
 * Ends an image whose end is due by its dates. Does nothing if another process has ended it.
 * @returns the current record; `null`: there is none any more.
 */
export async function endWhereDue(
  context: LifeContext,
  current: CurrentRecord,
): Promise<CurrentRecord | null> {
  let latest: CurrentRecord | null = current;
  for (let attempt = 1; latest !== null; attempt++) {
    const { end } = stateAt(latest.record, context.settings.now());
    if (end === null || latest.record.gone !== null) return latest;
    try {
      return await endImage(context, latest, end);
    } catch (error) {
      if (!isServiceError(error, "conflict") || attempt === MAX_ATTEMPTS) throw error;
      latest = await context.records.load(current.record.id);
    }
  }
  return null;
}

/** Time until the next sweep of a record that waits for the delivery of its events. */
const UNDELIVERED_SWEEP_MS = 60 * 60_000;

/** Result of a sweep for one image: unchanged, bytes removed, or record removed as well. */
export type SweepOutcome = "kept" | "emptied" | "forgotten";

/**
 * Performs the due work of an image: first marks its record as gone, then removes its bytes, last the record.
 * Idempotent on any node. After a failure the entry remains, and the next sweep continues.
 * @param known The record, if the caller has just written it. @default it is read
 */
export async function sweepImage(
  context: LifeContext,
  entry: DueEntry,
  known: CurrentRecord | null = null,
): Promise<SweepOutcome> {
  const { due, records, settings } = context;
  const { id } = entry;
  let current = known ?? (await records.load(id));
  if (current !== null) {
    const found = current;
    current = await endWhereDue(context, found).catch(async (error) => {
      if (!isServiceError(error, "no_space")) throw error;
      // On a full disk, removing the bytes makes room for the record of the end.
      await removeBytes(context, id);
      return endWhereDue(context, found);
    });
  }
  if (current === null) {
    // The upload was cut off before its record was written, or a slower node left these bytes behind.
    await removeBytes(context, id);
    await due.remove(entry);
    return "forgotten";
  }
  const now = settings.now();
  // After a restore, only the record has them.
  if (known === null && current.record.outbox !== undefined) await context.events.resume(current.record);
  const { isOver } = stateAt(current.record, now);
  const dueMs = nextSweepAt(current.record, settings.tombstoneMs);
  const { act, gone } = current.record;
  try {
    // Before the entry of the decision is removed. An expiry has nothing to settle.
    const isDecided = gone?.why === "deleted" || act?.name === "refuse";
    if (isDecided && entry.dueMs < dueMs) await settleAct(context, current.record);
  } catch (error) {
    // Not from the index of its owner: a repeated `removeAll` finds it there.
    await removeBytes(context, id);
    throw error;
  }
  if (isOver) await emptyImage(context, current);
  if (isOver && dueMs <= now && hasUndelivered(current.record, now)) {
    await due.add({ id, dueMs: now + UNDELIVERED_SWEEP_MS });
    await due.remove(entry);
    return "emptied";
  }
  if (isOver && dueMs <= now) {
    // Of a rejected upload, which has its hashes to the end.
    await context.copies.remove(current.record);
    await records.remove(id);
    // Those that were not delivered in time.
    context.events.deliverUnstored(current.record, current.record);
    const { expiresAt } = current.record;
    if (expiresAt !== null) await due.remove({ id, dueMs: Math.min(expiresAt, MAX_DUE_MS) });
    await due.remove(entry);
    return "forgotten";
  }
  if (dueMs !== entry.dueMs) {
    await addNextSweep(due, current.record, settings.tombstoneMs);
    await due.remove(entry);
  }
  return isOver ? "emptied" : "kept";
}

/** Removes an image that has no record, or is over, from the indexes of copies and of operators. Never rejects. */
export async function removeEntries(
  { copies, marked, settings }: LifeContext,
  record: ImageRecord,
): Promise<void> {
  const marks = marksOf(record).map((mark) => marked.remove(mark, record));
  // An entry that remains lists nothing.
  await Promise.all([copies.remove(record), ...marks]).catch(settings.onError);
}

/** Removes all bytes of an image from all stores. Idempotent. */
export async function removeBytes({ guard, bytes }: LifeContext, id: string): Promise<void> {
  // A volume that is away for a while comes back with the bytes that a removal does not find now.
  await guard.confirmBytes();
  await bytes.remove(id);
}

/** Removes the bytes of an image, and releases them from its owner's usage. */
async function emptyImage(context: LifeContext, current: CurrentRecord): Promise<void> {
  const { record } = current;
  await removeBytes(context, record.id);
  if (record.owner === null) return;
  await context.owners.release(record);
  const emptied = context.records.replace(current, { ...record, owner: null });
  // Changed concurrently: the next sweep continues. Releasing twice counts once.
  if ((await emptied.catch(onCode("conflict", null))) !== null) context.owners.settle(record);
}
