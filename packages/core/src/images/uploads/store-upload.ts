import { isSettledWithin } from "../../async/settled-within.ts";
import type { Call } from "../../contracts/call.ts";
import type { DueEntry } from "../../contracts/due-index.ts";
import type { Admission } from "../../contracts/renderer.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { removeEntries } from "../life/end-image.ts";
import { admitUpload } from "../processing/admit-upload.ts";
import type { Jobs } from "../processing/jobs.ts";
import { claimed, type InspectedAdmission, ORPHAN_MS, readyRecord, unclaimed } from "../processing/lease.ts";
import type { ProcessingContext } from "../processing/processing-context.ts";
import { type Gone, hashesOf, type ImageRecord, keyOf, type Processing } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { putAdmitted, type SpooledUpload, type UploadedFile } from "./uploaded-file.ts";

export interface UploadContext extends ProcessingContext {
  jobs: Jobs;
}

/** How long an uploader waits, and the client that the work counts for. */
export interface UploadPatience {
  /** An upload that takes longer to check and clean continues in the background; milliseconds. `null`: the uploader waits. */
  waitMs: number | null;
  /** Whether an upload is accepted and processed later if the renderer is overloaded. */
  acceptsWhenBusy: boolean;
  /** The client that the work counts for: the owner, or the client's address (cut as for rate limits). */
  client: string;
  /** The request, for the host's `inspect`. `null`: the image is added in code. */
  call: Call | null;
  /** Aborts when the uploader disconnects. Ignored once the upload continues in the background. */
  signal: AbortSignal;
}

/**
 * Checks, cleans and stores an upload. Resolves to its record, which is still `processing` if that takes longer than the
 * uploader waits. Always disposes of the upload in the end, even if it rejects.
 * @param requireReserved Awaited before the first byte is stored. If it rejects, nothing is stored.
 */
export async function storeUpload(
  context: UploadContext,
  draft: ImageRecord,
  upload: SpooledUpload,
  patience: UploadPatience,
  requireReserved: () => Promise<void>,
): Promise<CurrentRecord> {
  const watch = watchForOrphan(context, draft);
  const confirmed = context.guard.confirmAll();
  // An upload that is rejected before it is stored does not await it.
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
  upload: SpooledUpload;
  watch: OrphanWatch;
  /** Rejects if the upload must not be stored. */
  requireStorable(): Promise<void>;
}

async function admitAndStore(
  context: UploadContext,
  draft: ImageRecord,
  incoming: Incoming,
  { waitMs, acceptsWhenBusy, client, call, signal }: UploadPatience,
): Promise<CurrentRecord> {
  const { upload } = incoming;
  if (waitMs === 0) return storeForLater(context, draft, incoming);
  const controller = new AbortController();
  const leave = () => controller.abort(signal.reason);
  signal.addEventListener("abort", leave);
  const admission = admitUpload(context, draft, upload, { client, call, signal: controller.signal });
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

async function storeReady(
  context: UploadContext,
  draft: ImageRecord,
  { upload, watch, requireStorable }: Incoming,
  admission: InspectedAdmission,
  signal: AbortSignal,
): Promise<CurrentRecord> {
  const record = readyRecord(draft, admission, draft.updatedAt);
  await requireStorable();
  let stored: CurrentRecord | null = null;
  try {
    stored = await createAdmitted(context, record, upload, admission, { signal, draft });
    // Its bytes may have been denied since they were checked. After this, a takedown of all copies finds the image.
    await context.denied.requireAllowed(hashesOf(record));
    await watch.requireInTime();
    return stored;
  } catch (error) {
    await removeEntries(context, record);
    // Its record goes, with the events in it. That of the storing may have been delivered.
    const gone: Gone = { at: context.settings.now(), why: "deleted" };
    if (stored !== null) context.events.deliverUnstored(record, { ...record, gone });
    throw error;
  }
}

/** Stores the bytes and the record, at once or the record last: the record is the commit point. */
async function createAdmitted(
  { originals, records }: UploadContext,
  record: ImageRecord,
  upload: SpooledUpload,
  admission: Admission,
  options: { signal: AbortSignal; draft: ImageRecord },
): Promise<CurrentRecord> {
  const { path } = admission.cleaned === null ? upload.source : { path: upload.cleanedPath };
  const current = await records.createWithOriginal(record, path, options);
  if (current !== null) return current;
  const put = { ifRevision: null, signal: options.signal };
  await putAdmitted(originals, keyOf.original(record.id), upload, admission, put);
  return records.create(record, options);
}

/** Stores the unprocessed upload and queues its processing. */
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

/** Stores the unprocessed upload while its processing continues, under a lease from the start. */
async function storeInBackground(
  context: UploadContext,
  draft: ImageRecord,
  { upload, watch, requireStorable }: Incoming,
  admission: Promise<InspectedAdmission>,
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
    // The renderer may write beside the file until the admission ends.
    void admission.catch(() => undefined).then(upload.dispose);
    throw error;
  }
}

/** Time limit for storing an upload, well below {@link ORPHAN_MS}. */
const STORE_TIMEOUT_MS = 5 * 60_000;

/**
 * Stores an upload together with its pending work. The pending entry is written first and the record last: the record is the
 * commit point. A failure leaves nothing behind.
 * @param putUpload Stores the bytes under the given key.
 * @param processing Returns the state of the work at the time the record is written.
 */
async function createPendingRecord(
  context: UploadContext,
  draft: ImageRecord,
  putUpload: UploadedFile["putCopying"],
  processing: () => Processing,
): Promise<CurrentRecord> {
  const { pending, originals, records, settings } = context;
  const signal = AbortSignal.timeout(STORE_TIMEOUT_MS);
  const key = keyOf.upload(draft.id);
  const entry = { id: draft.id, dueMs: draft.createdAt };
  await pending.add(entry, signal);
  try {
    await putUpload(key, { ifRevision: null, signal });
    const inspect = settings.inspect === null ? {} : { inspect: true as const };
    const record = { ...draft, processing: { ...processing(), ...inspect } };
    return await records.create(record, { signal, draft });
  } catch (error) {
    // Leftovers that cannot be removed now are found by their entry once it counts as orphaned.
    await originals
      .delete(key)
      .then(() => pending.remove(entry))
      .catch(settings.onError);
    throw error;
  }
}

/** Lets the sweeper find an upload if it is orphaned, and a takedown find it as a copy. Both entries are written before the first byte. */
interface OrphanWatch {
  /** Await it before bytes are stored. */
  written: Promise<void>;
  /**
   * Call it when the record is written. If the upload took more than {@link ORPHAN_MS}, the sweeper may have deleted its bytes
   * as orphaned: removes the record and rejects.
   */
  requireInTime(): Promise<void>;
  /** Removes the stored bytes and the entry. Never rejects: the sweeper removes what remains. */
  removeStored(): Promise<void>;
}

function watchForOrphan(context: UploadContext, draft: ImageRecord): OrphanWatch {
  const { copies, due, events, originals, records, settings } = context;
  const { id, expiresAt } = draft;
  const entry: DueEntry = { id, dueMs: settings.now() + ORPHAN_MS };
  const added = due.add(entry);
  // Indexed while it is processed, which takes longer than the writes of the index.
  const indexed = copies.add(draft);
  const written = Promise.all([added, events.announce(id), indexed]).then(() => undefined);
  // An upload that is rejected before bytes are stored does not await it.
  written.catch(() => undefined);
  return {
    written,
    async requireInTime() {
      if (settings.now() >= entry.dueMs) {
        await records.remove(id);
        throw new ServiceError("store_unavailable", `Storing image ${id} took too long. Upload it again`);
      }
      // For a later expiry, the sweep of this entry adds the next entry. An image that never expires needs none.
      if (expiresAt === null) await due.remove(entry).catch(settings.onError);
      else if (expiresAt < entry.dueMs) await due.add({ id, dueMs: expiresAt }).catch(settings.onError);
    },
    async removeStored() {
      try {
        const [watched] = await Promise.allSettled([added, indexed]);
        await Promise.all([events.withdraw(id), copies.remove(draft)]).catch(settings.onError);
        // Without the entry, no byte was stored.
        if (watched.status === "rejected") return;
        // A write that failed may still have taken effect.
        await records.remove(id);
        await originals.delete(keyOf.original(id));
        await due.remove(entry);
      } catch (error) {
        settings.onError(error);
      }
    },
  };
}
