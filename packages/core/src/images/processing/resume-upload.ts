import { isServiceError, ServiceError } from "../../errors.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { BY_RECORD, stateAt } from "../record/image-state.ts";
import { BACKGROUND_CLIENT } from "../renditions/render-gate.ts";
import { storedUpload } from "../uploads/uploaded-file.ts";
import { finishUpload, type JobOutcome, removeLeftovers, type UploadWork } from "./finish-upload.ts";
import { RecordLease } from "./lease.ts";
import type { Job, ProcessingContext } from "./processing-context.ts";
import { claimed, failedRecord, isClaimed, isExhausted, ORPHAN_MS, PARKED_REASON } from "./transitions.ts";

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
    const mine = await replaceUnlessChanged(context, current, record);
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
  { guard, originals, renderer, renders, settings }: ProcessingContext,
  { id, type, size }: ImageRecord,
  signal: AbortSignal,
): Promise<UploadWork | null> {
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
  const { keepMetadata, keepPdfActions } = settings;
  const options = { cleanedPath: upload.cleanedPath, keepMetadata, keepPdfActions };
  const admission = renders.admit(BACKGROUND_CLIENT, signal, (given) =>
    renderer.admit(upload.source, type, options, given),
  );
  return { upload, admission };
}

async function park(context: ProcessingContext, current: CurrentRecord): Promise<JobOutcome> {
  const record = failedRecord(current.record, PARKED_REASON, context.settings.now());
  const parked = await replaceUnlessChanged(context, current, record);
  if (parked !== null) await removeLeftovers(context, record, record);
  return "over";
}

/** `null`: another node changed the record first. */
async function replaceUnlessChanged(
  { records }: ProcessingContext,
  current: CurrentRecord,
  record: ImageRecord,
): Promise<CurrentRecord | null> {
  try {
    return await records.replace(current, record);
  } catch (error) {
    if (isServiceError(error, "conflict")) return null;
    throw error;
  }
}
