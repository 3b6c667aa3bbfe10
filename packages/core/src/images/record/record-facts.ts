import type { RecordFacts, RecordState } from "../../contracts/record-queries.ts";
import { isServiceError } from "../../errors.ts";
import { dueEnd } from "./image-life.ts";
import { type GoneReason, type ImageRecord, idOfRecord } from "./image-record.ts";
import { readRecord } from "./image-records.ts";

/** State of an image at a time. */
export function stateOf(record: ImageRecord, now: number): RecordState {
  if (record.failure !== null) return "failed";
  const gone = record.gone ?? dueEnd(record, now);
  if (gone !== null) return endedState(gone.why);
  if (record.withheld !== null) return "withheld";
  return record.processing === null ? "ready" : "processing";
}

function endedState(why: GoneReason): RecordState {
  return why === "withheld" ? "removed" : why;
}

/** The facts of a record, for a store with queries; `null` for any other blob, and for a record that this release cannot read. */
export function factsOf(key: string, bytes: Buffer): RecordFacts | null {
  const id = idOfRecord(key);
  if (id === null) return null;
  let record: ImageRecord;
  try {
    record = readRecord(bytes, id);
  } catch (error) {
    // Reported when the record is read.
    if (isServiceError(error)) return null;
    throw error;
  }
  const { size, owner, createdAt, expiresAt, withheld } = record;
  return {
    // No end is due so early.
    state: stateOf(record, Number.NEGATIVE_INFINITY),
    size,
    owner: owner?.name ?? null,
    createdAt,
    expiresAt,
    deleteAfter: withheld?.deleteAfter ?? null,
  };
}
