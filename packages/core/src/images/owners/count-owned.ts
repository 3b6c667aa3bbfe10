import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { isServiceError } from "../../errors.ts";
import { isOver } from "../record/image-life.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { ImageRecords } from "../record/image-records.ts";
import { NOTE_LIFE_MS } from "./revise-tally.ts";
import { EMPTY_TALLY, reserveBytes, type Tally } from "./tally.ts";

const READ_AT_ONCE = 8;

/**
 * Counts an owner's images and bytes by reading every record. Rejects if a record cannot be read, unless it is
 * damaged: an image of unknown owner counts for no owner.
 *
 * A change of an image that was just stored or has just ended may be under way, and the lost tally may have counted
 * it already. Such an image gets a note, so that its record is checked again once that change must be over.
 */
export async function countOwned(
  records: ImageRecords,
  isOwner: (name: string) => boolean,
  now: () => number,
): Promise<Tally> {
  const tally: Tally = { ...EMPTY_TALLY, turn: 1, notes: new Map() };
  await forEachAtOnce(records.ids(), READ_AT_ONCE, async (id) => {
    const record = await recordOf(records, id);
    const owner = record?.owner ?? null;
    if (record === null || owner === null || !isOwner(owner.name)) return;
    const nowMs = now();
    reserveBytes(tally, id, owner.bytes, nowMs);
    const mayChange = isOver(record, nowMs) || nowMs - record.createdAt < NOTE_LIFE_MS;
    if (!mayChange) tally.notes.delete(id);
  });
  return tally;
}

async function recordOf(records: ImageRecords, id: string): Promise<ImageRecord | null> {
  try {
    return (await records.load(id))?.record ?? null;
  } catch (error) {
    if (isServiceError(error, "damaged")) return null;
    throw error;
  }
}
