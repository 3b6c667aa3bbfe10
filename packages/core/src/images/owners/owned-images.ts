import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { onCode } from "../../errors.ts";
import { hashOfName, type NameIndex } from "../../stores/name-index.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { ImageRecords } from "../record/image-records.ts";
import { stateAt } from "../record/image-state.ts";
import { NOTE_LIFE_MS, noUsage, reserveBytes, type UsageRecord } from "./usage-record.ts";

/** Name of the index of each owner's images. An image has its entry until its bytes are removed. */
export const OWNED_INDEX = "owned";

const READ_AT_ONCE = 8;

/**
 * Counts an owner's images and bytes by reading records. Rejects if a record cannot be read, unless it is
 * damaged: an image of unknown owner counts for no owner.
 *
 * A change of an image that was just stored or has just ended may be under way, and the lost usage may have counted
 * it already. Such an image gets a note, so that its record is checked again once that change must be over.
 * @param owner Hash of the owner's name.
 * @param ids The images that may be the owner's, each once.
 */
export async function countOwned(
  records: ImageRecords,
  owner: string,
  ids: AsyncGenerator<string>,
  now: () => number,
): Promise<UsageRecord> {
  const usage = noUsage();
  await forEachAtOnce(ids, READ_AT_ONCE, async (id) => {
    const record = await recordOf(records, id);
    if (record?.owner == null || hashOfName(record.owner.name) !== owner) return;
    const nowMs = now();
    reserveBytes(usage, id, record.owner.bytes, nowMs);
    const mayChange = stateAt(record, nowMs).isOver || nowMs - record.createdAt < NOTE_LIFE_MS;
    if (!mayChange) usage.notes.delete(id);
  });
  return usage;
}

/** The images that the index lists for an owner. A listing may repeat a key, and a restored image may have two entries. */
export async function* idsOwned(index: NameIndex, owner: string): AsyncGenerator<string> {
  const seen = new Set<string>();
  for await (const { id } of index.list(owner)) {
    if (!seen.has(id)) yield id;
    seen.add(id);
  }
}

async function recordOf(records: ImageRecords, id: string): Promise<ImageRecord | null> {
  return (await records.load(id).catch(onCode("damaged", null)))?.record ?? null;
}
