import { isOver } from "../record/image-life.ts";
import type { ImageRecord } from "../record/image-record.ts";

/**
 * The record of an image that a repair ended for want of bytes, living again. Expiry and takedown are those of the ended record.
 * `null`: the image ended otherwise, or would be over.
 * @param copy The living record in a backup.
 */
export function revivedRecord(ended: ImageRecord, copy: ImageRecord, now: number): ImageRecord | null {
  if (ended.gone?.lost !== true) return null;
  const { expiresAt, withheld, updatedAt } = ended;
  const record = { ...copy, expiresAt, withheld, updatedAt: Math.max(now, updatedAt) };
  return isOver(record, now) ? null : record;
}
