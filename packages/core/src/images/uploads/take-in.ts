import { isSettledWithin } from "../../async/settled-within.ts";
import type { Admission } from "../../contracts/renderer.ts";
import { isServiceError } from "../../errors.ts";
import type { AsyncPreference } from "../../http/prefer.ts";
import type { ImageContext } from "../http/image-context.ts";
import { storePending } from "../processing/pending-upload.ts";
import { claimed, readyRecord, unclaimed } from "../processing/transitions.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import { summaryOf } from "../record/image-summary.ts";
import { type Arrival, noteArrival } from "./arrival.ts";
import { storeAdmitted, type UploadedFile } from "./uploaded-file.ts";

/** Clients that would wait longer than this are told 202 all the same: proxies lose patience. */
const MAX_WAIT_MS = 60_000;

/** How an upload's client wants to be answered. */
export interface TakeInOptions {
  /** Of the request's `Prefer`; `null` without. */
  preference: AsyncPreference | null;
  /** Whom the work counts for: the owner, or the client's address as rate limits cut it. */
  client: string;
  /** Aborts when the client left. From the decision to answer 202 on it does not matter any more. */
  signal: AbortSignal;
  /** Awaited before the first byte is stored; where it rejects, none is. */
  beforeStoring(): Promise<void>;
}

/**
 * Checks, cleans and stores an upload; resolves to its record, which is still `processing` where that takes longer than
 * the client waits. Disposes of the upload, sooner or later, whatever happens.
 */
export async function takeIn(
  context: ImageContext,
  draft: ImageRecord,
  upload: UploadedFile,
  options: TakeInOptions,
): Promise<ImageRecord> {
  const arrival = noteArrival(context, draft);
  const confirmed = context.guard.confirm();
  // An upload that is refused before it is stored need not hear of it.
  confirmed.catch(() => undefined);
  try {
    const { beforeStoring } = options;
    const mayStore = async () => {
      await confirmed;
      await arrival.noted;
      await beforeStoring();
    };
    return await admitAndStore(context, draft, { upload, arrival, mayStore }, options);
  } catch (error) {
    await arrival.takeBack();
    throw error;
  }
}

/** An upload on its way into the store. */
interface Incoming {
  upload: UploadedFile;
  arrival: Arrival;
  /** Rejects where it must not be stored. */
  mayStore(): Promise<void>;
}

async function admitAndStore(
  context: ImageContext,
  draft: ImageRecord,
  incoming: Incoming,
  { preference, client, signal }: TakeInOptions,
): Promise<ImageRecord> {
  const { upload } = incoming;
  const waitMs =
    preference === null ? context.settings.asyncAfterMs : Math.min(preference.waitMs, MAX_WAIT_MS);
  if (waitMs === 0) return takeInLater(context, draft, incoming);
  const controller = new AbortController();
  const leave = () => controller.abort(signal.reason);
  signal.addEventListener("abort", leave);
  const admission = admit(context, draft, upload, client, controller.signal);
  const isInTime = await isSettledWithin(admission, waitMs);
  signal.removeEventListener("abort", leave);
  if (!isInTime && !signal.aborted) return goOnBehind(context, draft, incoming, admission, controller);
  try {
    return await storeReady(context, draft, incoming, await admission, signal);
  } catch (error) {
    const isBusy = isServiceError(error, "overloaded") || isServiceError(error, "rate_limited");
    if (preference !== null && isBusy) {
      return await takeInLater(context, draft, incoming);
    }
    throw error;
  } finally {
    await upload.dispose();
  }
}

async function admit(
  { scheduler, settings }: ImageContext,
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

/** Bytes first, the record last: it is the commit point. */
async function storeReady(
  { originals, records, settings }: ImageContext,
  draft: ImageRecord,
  { upload, arrival, mayStore }: Incoming,
  admission: Admission,
  signal: AbortSignal,
): Promise<ImageRecord> {
  const record = readyRecord(draft, admission, draft.updatedAt);
  await mayStore();
  await storeAdmitted(originals, keyOf.original(draft.id), upload, admission, { ifRevision: null, signal });
  await records.create(record, signal);
  await arrival.confirm();
  settings.onStored(summaryOf(record));
  return record;
}

/** Stores the upload for whoever has time for it. */
async function takeInLater(
  context: ImageContext,
  draft: ImageRecord,
  { upload, arrival, mayStore }: Incoming,
): Promise<ImageRecord> {
  try {
    await mayStore();
    const { record } = await storePending(context, draft, upload.storeLast, () =>
      unclaimed(context.settings.now()),
    );
    await arrival.confirm();
    context.jobs.enqueue(record);
    return record;
  } finally {
    await upload.dispose();
  }
}

/** Stores the upload and lets the work on it go on, under a lease from the beginning. */
async function goOnBehind(
  context: ImageContext,
  draft: ImageRecord,
  { upload, arrival, mayStore }: Incoming,
  admission: Promise<Admission>,
  controller: AbortController,
): Promise<ImageRecord> {
  const { jobs, settings } = context;
  try {
    await mayStore();
    const current = await storePending(context, draft, upload.storeCopy, () =>
      claimed(unclaimed(settings.now()), jobs.worker, settings.now()),
    );
    await arrival.confirm();
    jobs.finishInBackground(current, { upload, admission }, controller);
    return current.record;
  } catch (error) {
    controller.abort(error);
    // The renderer may be writing beside the file, as long as it is not through with it.
    void admission.catch(() => undefined).then(upload.dispose);
    throw error;
  }
}
