import { expiryOf } from "../record/image-life.ts";
import type { ImageRecord } from "../record/image-record.ts";

/** The header that names the end of an image, or of its signed address if that is earlier. None if there is no end. */
export function sunsetHeader(record: ImageRecord, untilMs: number | null = null): { Sunset?: string } {
  const endsAt = Math.min(expiryOf(record), untilMs ?? Number.POSITIVE_INFINITY);
  return endsAt === Number.POSITIVE_INFINITY ? {} : { Sunset: new Date(endsAt).toUTCString() };
}
