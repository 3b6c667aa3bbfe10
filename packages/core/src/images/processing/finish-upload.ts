import { isServiceError, onCode, ServiceError } from "../../errors.ts";
import { saysNotWorking } from "../../observe/observe-backends.ts";
import { RefusedUpload } from "../life/deny-list.ts";
import { removeBytes, removeEntries } from "../life/end-image.ts";
import { hashesOf, type ImageRecord, keyOf } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { BY_RECORD, stateAt } from "../record/image-state.ts";
import { BACKGROUND_CLIENT } from "../renditions/render-gate.ts";
import { putAdmitted, storedUpload, type UploadedFile } from "../uploads/uploaded-file.ts";
import { admitUpload } from "./admit-upload.ts";
import {
  claimed,
  failedRecord,
  type InspectedAdmission,
  isClaimed,
  isExhausted,
  LeaseLost,
  ORPHAN_MS,
  PARKED_REASON,
  RecordLease,
  readyRecord,
  released,
} from "./lease.ts";
import type { Job, ProcessingContext } from "./processing-context.ts";

/** The result of a job: `over`, or `again` to retry it later. */
export type JobOutcome = "over" | "again";

/** Processing of an upload that has begun. */
export interface UploadWork {
  upload: UploadedFile;
  admission: Promise<InspectedAdmission>;
}

const VERDICTS = ["too_large", "unsupported_media", "too_costly", "not_implemented"] as const;
const LOAD = ["overloaded", "rate_limited", "conflict"] as const;
const LOST_REASON = "The uploaded file was lost before it could be processed.";

/**
 * Finishes the work on an upload: the image is ready or failed, or the lease is released. Never rejects.
 * @param begin Begins the work; returns `null` if the upload is missing.
 * @param signal Aborts to leave the work to other processes. An admission abandoned this way does not count as a try.
 */
export async function finishUpload(
  context: ProcessingContext,
  lease: RecordLease,
  begin: () => Promise<UploadWork | null>,
  signal: AbortSignal,
): Promise<JobOutcome> {
  let work: UploadWork | null = null;
  try {
    work = await begin();
    const change = await conclude(context, lease, work);
    const record = await lease.end(change);
    if (record.failure === null) context.settings.logStored(record);
    return await endWith(context, record, record);
  } catch (error) {
    const isLost = error instanceof LeaseLost || !(await releaseLease(context, lease, isTry(error, signal)));
    // An error of work whose lease was lost is ignored: the new lease holder reports its own.
    if (isLost) return abandonLost(context, lease.record, work);
    if (!signal.aborted && !isExpected(error)) context.settings.onError(error);
    return "again";
  }
}

/** Whether a failure counts as a try: a bug does, a transient failure does not. */
function isTry(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted || isExpected(error)) return false;
  return !isServiceError(error, "store_unavailable") && !isServiceError(error, "no_space");
}

/** Whether the file itself caused the failure, or the host refuses it. */
function isVerdict(error: unknown): error is ServiceError {
  if (error instanceof RefusedUpload) return true;
  return !saysNotWorking(error) && VERDICTS.some((code) => isServiceError(error, code));
}

/** Whether the failure is normal under load or with concurrent nodes, or is reported elsewhere: a renderer that does not work. */
function isExpected(error: unknown): boolean {
  return saysNotWorking(error) || LOAD.some((code) => isServiceError(error, code));
}

/** Does the work and returns the resulting change of the record. Rejects if the work fails without a verdict about the file. */
async function conclude(
  context: ProcessingContext,
  lease: RecordLease,
  work: UploadWork | null,
): Promise<(record: ImageRecord) => ImageRecord> {
  const { now } = context.settings;
  if (work === null) return (record) => failedRecord(record, LOST_REASON, now());
  const { upload, admission } = work;
  try {
    const admitted = await admission;
    await requireAllowed(context, readyRecord(lease.record, admitted, now()));
    await storeOriginal(context, lease, upload, admitted);
    return (record) => readyRecord(record, admitted, now());
  } catch (error) {
    if (!isVerdict(error)) throw error;
    return (record) => failedRecord(record, error.message, now());
  } finally {
    await upload.dispose();
  }
}

/**
 * Rejects with {@link RefusedUpload} for denied bytes, unless the image is withheld. The index of copies gets its entries first: of this check and a takedown of
 * all copies, which denies before it reads the index, one finds the other.
 */
async function requireAllowed({ copies, denied }: ProcessingContext, record: ImageRecord): Promise<void> {
  await copies.add(record);
  // A takedown outranks the refusal.
  if (record.withheld !== null) return;
  try {
    await denied.requireAllowed(hashesOf(record));
  } catch (error) {
    if (error instanceof RefusedUpload) await copies.remove(record);
    throw error;
  }
}

/**
 * Stores the original so that a process that lost its lease cannot replace it later. A later lease holder reads the
 * revision of the original after the last renewal of this lease, and each replaces only the revision that it has read.
 */
async function storeOriginal(
  { originals }: ProcessingContext,
  lease: RecordLease,
  upload: UploadedFile,
  admission: InspectedAdmission,
): Promise<void> {
  const key = keyOf.original(lease.record.id);
  // An earlier lease holder may have died after this point.
  const seen = await originals.stat(key);
  await lease.renew();
  await putAdmitted(originals, key, upload, admission, { ifRevision: seen?.revision ?? null });
}

/** @returns whether the lease was still held. */
async function releaseLease(
  { settings }: ProcessingContext,
  lease: RecordLease,
  wasTry: boolean,
): Promise<boolean> {
  try {
    await lease.end(({ processing, ...record }) => ({
      ...record,
      processing: processing && released(processing, wasTry, settings.now()),
    }));
  } catch (error) {
    if (error instanceof LeaseLost) return false;
    // The lease then expires.
    settings.onError(error);
  }
  return true;
}

/** Ends work whose lease was lost. Bytes and index entries stored by this process must not outlive a deleted image. */
async function abandonLost(
  context: ProcessingContext,
  mine: ImageRecord,
  work: UploadWork | null,
): Promise<JobOutcome> {
  const { id, createdAt } = mine;
  try {
    const record = (await context.records.load(id))?.record ?? null;
    const isOver = record === null || stateAt(record, BY_RECORD).isOver;
    if (!isOver && record.processing !== null) return "over";
    // `null`: it was abandoned, so it has no entries.
    const admitted = isOver ? await work?.admission.catch(() => null) : null;
    if (admitted) await removeEntries(context, readyRecord(mine, admitted, createdAt));
    return await endWith(context, { id, createdAt }, record);
  } catch (error) {
    // A later poll finds the job.
    context.settings.onError(error);
    return "again";
  }
}

/** Ends a job by removing its leftovers. */
async function endWith(
  context: ProcessingContext,
  job: Job,
  record: ImageRecord | null,
): Promise<JobOutcome> {
  try {
    await removeLeftovers(context, job, record);
    return "over";
  } catch (error) {
    // The pending entry is removed last, so the next poll finishes the removal.
    context.settings.onError(error);
    return "again";
  }
}

/**
 * Removes the leftovers of finished work: the upload, the bytes of an image that is not served, and the pending entry last.
 * Idempotent on any node.
 * @param record The current record; `null`: the upload ended before its record was written.
 */
async function removeLeftovers(
  context: ProcessingContext,
  job: Job,
  record: ImageRecord | null,
): Promise<void> {
  const { settings, originals, due, pending } = context;
  const { id, createdAt } = job;
  const now = settings.now();
  await originals.delete(keyOf.upload(id));
  if (record === null || stateAt(record, BY_RECORD).isOver) {
    await removeBytes(context, id);
    // The sweep removes the record later.
    if (record !== null) await due.add({ id, dueMs: now });
  }
  await pending.remove({ id, dueMs: createdAt });
}

/** Resumes a job, or removes its leftovers. Never rejects. */
export async function resumeUpload(
  context: ProcessingContext,
  worker: string,
  job: Job,
  controller: AbortController,
): Promise<JobOutcome> {
  try {
    await context.guard.open();
    const current = await context.records.load(job.id);
    const now = context.settings.now();
    // Its upload may still be stored.
    if (current === null && now - job.createdAt < ORPHAN_MS) return "over";
    const processing = current?.record.processing ?? null;
    if (current === null || processing === null || stateAt(current.record, BY_RECORD).isOver) {
      await removeLeftovers(context, job, current?.record ?? null);
      return "over";
    }
    // The image is expired by this clock, which may be wrong. Only the sweep decides whether to trust the clock.
    if (stateAt(current.record, now).isOver) return "over";
    if (isClaimed(processing, now)) return "over";
    if (isExhausted(processing, worker)) return await park(context, current);
    const record = { ...current.record, processing: claimed(processing, worker, now) };
    // `null`: another node changed the record first.
    const mine = await context.records.replace(current, record).catch(onCode("conflict", null));
    return mine === null ? "over" : await workOn(context, mine, controller);
  } catch (error) {
    context.settings.onError(error);
    // The entry stays, so the next poll retries.
    if (!isServiceError(error, "damaged")) return "again";
    // The work cannot continue before the record is restored, and other work must not wait for that.
    await context.pending.remove({ id: job.id, dueMs: job.createdAt }).catch(context.settings.onError);
    return "over";
  }
}

function workOn(
  context: ProcessingContext,
  current: CurrentRecord,
  controller: AbortController,
): Promise<JobOutcome> {
  const lease = new RecordLease(context, current, controller);
  const begin = () => beginAgain(context, current.record, controller.signal);
  return finishUpload(context, lease, begin, controller.signal);
}

async function beginAgain(
  context: ProcessingContext,
  record: ImageRecord,
  signal: AbortSignal,
): Promise<UploadWork | null> {
  const { guard, originals } = context;
  const { id, size } = record;
  const stored = await originals.stat(keyOf.upload(id));
  // In another store, a missing upload proves nothing.
  if (stored === null) await guard.confirmBytes();
  if (stored !== null && stored.size !== size) {
    throw new ServiceError(
      "damaged",
      `The upload of image ${id} is damaged: found ${stored.size} bytes, expected ${size}`,
    );
  }
  const upload = await storedUpload(originals, id);
  if (upload === null) return null;
  const admission = admitUpload(context, record, upload, { client: BACKGROUND_CLIENT, call: null, signal });
  return { upload, admission };
}

async function park(context: ProcessingContext, current: CurrentRecord): Promise<JobOutcome> {
  const record = failedRecord(current.record, PARKED_REASON, context.settings.now());
  const parked = await context.records.replace(current, record).catch(onCode("conflict", null));
  if (parked !== null) await removeLeftovers(context, record, record);
  return "over";
}
