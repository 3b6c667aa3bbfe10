import { hashOfName, type NameIndex } from "../../stores/name-index.ts";
import type { ImageRecord } from "./image-record.ts";
import { BY_RECORD, stateAt } from "./image-state.ts";

/** Name of the index of images by their marks. */
export const MARKED_INDEX = "marked";
const MAX_COUNTED = 1000;

/** The lists of operators to which an image belongs, whatever its dates. */
export function marksOf(record: ImageRecord): ("held" | "withheld")[] {
  if (record.gone !== null || record.failure !== null) return [];
  return [...(record.held ? ["held" as const] : []), ...(record.withheld ? ["withheld" as const] : [])];
}

/** Adds an image to the lists of operators, before the change that puts it there. @param before @default in none of them */
export async function addMarks(index: NameIndex, record: ImageRecord, before?: ImageRecord): Promise<void> {
  const known = before === undefined ? [] : marksOf(before);
  for (const mark of marksOf(record)) if (!known.includes(mark)) await index.add(mark, record);
}

/** Number of images with a mark, up to 1000. Counts entries that outlived their image. */
export async function countMarked(index: NameIndex, mark: "held" | "withheld"): Promise<number> {
  let count = 0;
  for await (const _ of index.list(hashOfName(mark))) if (++count === MAX_COUNTED) break;
  return count;
}

/**
 * Removes an image from the lists that it has left. A released image keeps its entry until it ends: a takedown at the same moment
 * needs it, and readers check the record.
 */
export async function removeMarks(index: NameIndex, before: ImageRecord, record: ImageRecord): Promise<void> {
  const marks = marksOf(record);
  const { isOver } = stateAt(record, BY_RECORD);
  const left = new Set([...marksOf(before), ...(before.wasReleased ? ["withheld" as const] : [])]);
  for (const mark of left) {
    if (marks.includes(mark) || (mark === "withheld" && !isOver)) continue;
    // Readers ignore the entry that then remains.
    await index.remove(mark, record).catch(() => undefined);
  }
}
