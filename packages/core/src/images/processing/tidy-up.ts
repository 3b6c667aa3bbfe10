import { hasEnded } from "../life/image-life.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import type { JobMarker } from "./job-markers.ts";
import type { ProcessingContext } from "./processing-context.ts";

/**
 * Removes what is left of work that is over: the upload, the bytes of an image that will not be served, and last the
 * marker. May be done any number of times, by anybody.
 * @param record as it is now; `null` where the upload was cut off before there was one.
 */
export async function tidyUp(
  { settings, originals, due, removeBytes, markers }: ProcessingContext,
  marker: JobMarker,
  record: ImageRecord | null,
): Promise<void> {
  const { id } = marker;
  const now = settings.now();
  await originals.delete(keyOf.upload(id));
  if (record === null || hasEnded(record)) {
    await removeBytes(id);
    // What else there is to be done about it, the sweep does.
    if (record !== null) await due.add({ id, dueMs: now });
  }
  await markers.remove(marker);
}
