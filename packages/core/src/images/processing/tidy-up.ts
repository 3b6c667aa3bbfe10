import type { ProcessingContext } from "../image-context.ts";
import { type ImageRecord, keyOf, whyGone } from "../image-record.ts";
import type { JobMarker } from "./job-markers.ts";

/**
 * Removes what is left of work that is over: the upload, the bytes of an image that will not be served, and last the
 * marker. May be done any number of times, by anybody.
 * @param record as it is now; `null` where the upload was cut off before there was one.
 */
export async function tidyUp(
  { settings, originals, renditions, markers }: ProcessingContext,
  marker: JobMarker,
  record: ImageRecord | null,
): Promise<void> {
  await originals.delete(keyOf.upload(marker.id));
  const isServed = record !== null && record.failure === null && whyGone(record, settings.now()) === null;
  if (!isServed) await renditions.remove(marker.id);
  await markers.remove(marker);
}
