import type { Admission } from "../../contracts/renderer.ts";
import { isServiceError, type ServiceError } from "../../errors.ts";
import { hasEnded } from "../life/image-life.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import { summaryOf } from "../record/image-summary.ts";
import { putAdmitted, type UploadedFile } from "../uploads/uploaded-file.ts";
import type { JobMarker } from "./job-markers.ts";
import { type Lease, LeaseLost } from "./lease.ts";
import type { ProcessingContext } from "./processing-context.ts";
import { tidyUp } from "./tidy-up.ts";
import { failedRecord, readyRecord, released } from "./transitions.ts";

/** Whether a job is over, or to be tried again later. */
export type Outcome = "over" | "again";

/** Work that has begun. */
export interface UploadWork {
  upload: UploadedFile;
  admission: Promise<Admission>;
}

const VERDICTS = ["unsupported_media", "too_costly", "not_implemented"] as const;
const LOAD = ["overloaded", "rate_limited", "conflict"] as const;
const LOST_REASON = "The uploaded file was lost before it could be processed.";

/**
 * Carries the work on an upload to its end: the image is ready, failed, or its lease given back. Never rejects.
 * @param begin gives the work, or `null` where the upload is not there.
 * @param signal aborts when the work is to be left to others: then an admission that is given up is no try.
 */
export async function finishUpload(
  context: ProcessingContext,
  lease: Lease,
  begin: () => Promise<UploadWork | null>,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    const change = await conclude(context, lease, begin);
    const record = await lease.end(change);
    if (record.failure === null) context.settings.onStored(summaryOf(record));
    return await tidyAfter(context, record, record);
  } catch (error) {
    const isLost = error instanceof LeaseLost || !(await giveBack(context, lease, isTry(error, signal)));
    // What went wrong with work that is not ours any more concerns nobody.
    if (isLost) return leaveToOthers(context, lease.record);
    if (!signal.aborted && !isExpected(error)) context.settings.onError(error);
    return "again";
  }
}

/** Whether work that failed so counts as a try: bugs do, troubles that pass do not. */
function isTry(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted || isExpected(error)) return false;
  return !isServiceError(error, "store_unavailable") && !isServiceError(error, "no_space");
}

/** Whether the file itself is to blame. */
function isVerdict(error: unknown): error is ServiceError {
  return VERDICTS.some((code) => isServiceError(error, code));
}

/** Everyday work under load and in competition. */
function isExpected(error: unknown): boolean {
  return LOAD.some((code) => isServiceError(error, code));
}

/** Does the work and gives what it makes of the record. Rejects where it brought no verdict about the file. */
async function conclude(
  context: ProcessingContext,
  lease: Lease,
  begin: () => Promise<UploadWork | null>,
): Promise<(record: ImageRecord) => ImageRecord> {
  const { now } = context.settings;
  const work = await begin();
  if (work === null) return (record) => failedRecord(record, LOST_REASON, now());
  const { upload, admission } = work;
  try {
    const admitted = await admission;
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
 * Stores the original so that nobody whose lease was lost can replace it later: whoever takes a lease after this one was
 * proved looks at the original after that, and each replaces only what it has seen.
 */
async function storeOriginal(
  { originals }: ProcessingContext,
  lease: Lease,
  upload: UploadedFile,
  admission: Admission,
): Promise<void> {
  const key = keyOf.original(lease.record.id);
  // Something may be there: whoever held the lease before may have died behind this point.
  const seen = await originals.stat(key);
  await lease.renew();
  await putAdmitted(originals, key, upload, admission, { ifRevision: seen?.revision ?? null });
}

/** @returns whether the lease was still there to be given back. */
async function giveBack({ settings }: ProcessingContext, lease: Lease, wasTry: boolean): Promise<boolean> {
  try {
    await lease.end(({ processing, ...record }) => ({
      ...record,
      processing: processing && released(processing, wasTry, settings.now()),
    }));
  } catch (error) {
    if (error instanceof LeaseLost) return false;
    // Its time runs out by itself.
    settings.onError(error);
  }
  return true;
}

/** The lease was lost. What this holder stored must not outlive an image that is gone. */
async function leaveToOthers(context: ProcessingContext, { id, createdAt }: ImageRecord): Promise<Outcome> {
  try {
    const record = (await context.records.load(id))?.record ?? null;
    const isOthers = record !== null && record.processing !== null;
    if (isOthers && !hasEnded(record)) return "over";
    return await tidyAfter(context, { id, createdAt }, record);
  } catch (error) {
    // Its marker brings somebody here again.
    context.settings.onError(error);
    return "again";
  }
}

async function tidyAfter(
  context: ProcessingContext,
  marker: JobMarker,
  record: ImageRecord | null,
): Promise<Outcome> {
  try {
    await tidyUp(context, marker, record);
    return "over";
  } catch (error) {
    // The marker is the last that goes, so that the next look does the rest.
    context.settings.onError(error);
    return "again";
  }
}
