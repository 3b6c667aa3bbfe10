import type { PutOptions } from "../../contracts/blob-store.ts";
import { type ImageRecord, keyOf, type Processing } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { ORPHAN_MS } from "../uploads/orphan-watch.ts";
import type { ProcessingContext } from "./processing-context.ts";

/** Time limit for storing an upload, well below the age at which its marker counts as orphaned. */
const STORE_TIMEOUT_MS = 5 * 60_000;

/**
 * Stores an upload together with its pending work. The marker is written first and the record last: the record is the
 * commit point. A failure leaves nothing behind.
 * @param storeUpload Stores the bytes under the given key.
 * @param processing Returns the state of the work at the time the record is written.
 */
export async function createPendingRecord(
  context: ProcessingContext,
  draft: ImageRecord,
  storeUpload: (key: string, options: PutOptions) => Promise<void>,
  processing: () => Processing,
): Promise<CurrentRecord> {
  const { markers, originals, records, settings } = context;
  const signal = AbortSignal.timeout(STORE_TIMEOUT_MS);
  const key = keyOf.upload(draft.id);
  await markers.add(draft, signal);
  try {
    await storeUpload(key, { ifRevision: null, signal });
    return await records.create({ ...draft, processing: processing() }, signal);
  } catch (error) {
    // Leftovers that cannot be removed now are found by their marker once it counts as orphaned.
    await originals
      .delete(key)
      .then(() => markers.remove(draft))
      .catch(settings.onError);
    throw error;
  }
}

/** Whether a marker without a record is orphaned, and not that of an upload being stored. */
export function isOrphan(createdAt: number, now: number): boolean {
  return now - createdAt >= ORPHAN_MS;
}
