import type { PutOptions } from "../../contracts/blob-store.ts";
import { type ImageRecord, keyOf, type Processing } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { ORPHAN_MS } from "../uploads/orphan-watch.ts";
import type { ProcessingContext } from "./processing-context.ts";

/** Storing an upload takes no longer: well before its marker may be taken for a left-over. */
const STORE_TIMEOUT_MS = 5 * 60_000;

/**
 * Makes an upload durable together with the work that it waits for. The marker comes first, the record last: it is the
 * commit point. On failure nothing stays.
 * @param storeUpload stores the bytes under the key it is given.
 * @param processing gives the state of the work as the record is written.
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
    // What cannot be removed now is found by its marker when that is old enough.
    await originals
      .delete(key)
      .then(() => markers.remove(draft))
      .catch(settings.onError);
    throw error;
  }
}

/** Whether a marker without a record is a left-over, and not an upload that is just being stored. */
export function isOrphan(createdAt: number, now: number): boolean {
  return now - createdAt >= ORPHAN_MS;
}
