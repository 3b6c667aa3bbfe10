import { isSettledWithin } from "../../async/settled-within.ts";
import type { Admission } from "../../contracts/renderer.ts";
import { isServiceError } from "../../errors.ts";
import type { Jobs } from "../processing/jobs.ts";
import { createPendingRecord } from "../processing/pending-upload.ts";
import type { ProcessingContext } from "../processing/processing-context.ts";
import { claimed, readyRecord, unclaimed } from "../processing/transitions.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { summaryOf } from "../record/image-summary.ts";
import { type OrphanWatch, watchForOrphan } from "./orphan-watch.ts";
import { putAdmitted, type UploadedFile } from "./uploaded-file.ts";

export interface UploadContext extends ProcessingContext {
  jobs: Jobs;
}

/** How long an uploader waits, and for whom the work counts. */
export interface UploadPatience {
  /** An upload that takes longer to check and clean goes on in the background; milliseconds. `null`: the uploader waits. */
  waitMs: number | null;
  /** Whether an upload that the renderer has no time for is accepted as well, and processed later. */
  acceptsWhenBusy: boolean;
  /** The client that the work counts for: the owner, or the client's address as rate limits cut it. */
  client: string;
  /** Aborts when the uploader left. Ignored once the upload goes on in the background. */
  signal: AbortSignal;
}

/**
 * Checks, cleans and stores an upload. Resolves to its record, which is still `processing` where that takes longer than the
 * uploader waits. Disposes of the upload, sooner or later, also where it rejects.
 * @param requireReserved is awaited before the first byte is stored; where it rejects, none is.
 */
export async function storeUpload(
  context: UploadContext,
  draft: ImageRecord,
  upload: UploadedFile,
  patience: UploadPatience,
  requireReserved: () => Promise<void>,
): Promise<CurrentRecord> {
  const watch = watchForOrphan(context, draft);
  const confirmed = context.guard.confirm();
  // An upload that is refused before it is stored does not await it.
  confirmed.catch(() => undefined);
  try {
    const requireStorable = async () => {
      await confirmed;
      await watch.written;
      await requireReserved();
    };
    return await admitAndStore(context, draft, { upload, watch, requireStorable }, patience);
  } catch (error) {
    await watch.removeStored();
    throw error;
  }
}

/** An upload on its way into the store. */
interface Incoming {
  upload: UploadedFile;
  watch: OrphanWatch;
  /** Rejects where it must not be stored. */
  requireStorable(): Promise<void>;
}

async function admitAndStore(
  context: UploadContext,
  draft: ImageRecord,
  incoming: Incoming,
  { waitMs, acceptsWhenBusy, client, signal }: UploadPatience,
): Promise<CurrentRecord> {
  const { upload } = incoming;
  if (waitMs === 0) return storeForLater(context, draft, incoming);
  const controller = new AbortController();
  const leave = () => controller.abort(signal.reason);
  signal.addEventListener("abort", leave);
  const admission = admit(context, draft, upload, client, controller.signal);
  const isInTime = await isSettledWithin(admission, waitMs);
  signal.removeEventListener("abort", leave);
  if (!isInTime && !signal.aborted) {
    return storeInBackground(context, draft, incoming, admission, controller);
  }
  try {
    return await storeReady(context, draft, incoming, await admission, signal);
  } catch (error) {
    const isBusy = isServiceError(error, "overloaded") || isServiceError(error, "rate_limited");
    if (acceptsWhenBusy && isBusy) return await storeForLater(context, draft, incoming);
    throw error;
  } finally {
    await upload.dispose();
  }
}

async function admit(
  { scheduler, settings }: UploadContext,
  draft: ImageRecord,
  { source, cleanedPath }: UploadedFile,
  client: string,
  signal: AbortSignal,
): Promise<Admission> {
  signal.throwIfAborted();
  const options = { cleanedPath, keepMetadata: settings.keepMetadata };
  const claim = { clients: new Set([client]) };
  return scheduler.admit(source, draft, options, { kind: "admit", claim, signal });
}

/** Stores the bytes first and the record last: it is the commit point. */
async function storeReady(
  { originals, records, settings }: UploadContext,
  draft: ImageRecord,
  { upload, watch, requireStorable }: Incoming,
  admission: Admission,
  signal: AbortSignal,
): Promise<CurrentRecord> {
  const record = readyRecord(draft, admission, draft.updatedAt);
  await requireStorable();
  await putAdmitted(originals, keyOf.original(draft.id), upload, admission, { ifRevision: null, signal });
  const current = await records.create(record, signal);
  await watch.requireInTime();
  settings.onStored(summaryOf(record));
  return current;
}

/** Stores the upload as it came, and puts the work on it in line. */
async function storeForLater(
  context: UploadContext,
  draft: ImageRecord,
  { upload, watch, requireStorable }: Incoming,
): Promise<CurrentRecord> {
  try {
    await requireStorable();
    const current = await createPendingRecord(context, draft, upload.putMoving, () =>
      unclaimed(context.settings.now()),
    );
    await watch.requireInTime();
    context.jobs.enqueue(current.record);
    return current;
  } finally {
    await upload.dispose();
  }
}

/** Stores the upload as it came while the work on it goes on, under a lease from the beginning. */
async function storeInBackground(
  context: UploadContext,
  draft: ImageRecord,
  { upload, watch, requireStorable }: Incoming,
  admission: Promise<Admission>,
  controller: AbortController,
): Promise<CurrentRecord> {
  const { jobs, settings } = context;
  try {
    await requireStorable();
    const current = await createPendingRecord(context, draft, upload.putCopying, () =>
      claimed(unclaimed(settings.now()), jobs.worker, settings.now()),
    );
    await watch.requireInTime();
    jobs.finishInBackground(current, { upload, admission }, controller);
    return current;
  } catch (error) {
    controller.abort(error);
    // The renderer may write beside the file until it is done with it.
    void admission.catch(() => undefined).then(upload.dispose);
    throw error;
  }
}
