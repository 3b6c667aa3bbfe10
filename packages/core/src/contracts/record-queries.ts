import type { BlobStore } from "./blob-store.ts";

/** State of an image whose record is readable. */
export type RecordState =
  | "processing"
  | "held"
  | "ready"
  | "withheld"
  | "failed"
  | "deleted"
  | "expired"
  | "removed";

/** The properties of an image by which it is found and counted. Dates are Unix milliseconds. */
export interface RecordFacts {
  /** The state until an end of the dates below. */
  state: RecordState;
  /** Bytes of the original. */
  size: number;
  /** `null`: no owner. */
  owner: string | null;
  createdAt: number;
  /** From then on a living image is `expired`. `null`: never. */
  expiresAt: number | null;
  /** From then on a living image is `removed`, whenever it expires. `null`: never. */
  deleteAfter: number | null;
}

/** Which images are found: those that match every given property. */
export interface RecordFilter {
  state?: RecordState | undefined;
  owner?: string | undefined;
  /** Created then or later. */
  createdFrom?: number | undefined;
  /** Created earlier. */
  createdBefore?: number | undefined;
}

export interface FoundRecords {
  /** Each record's blob, in no particular order. A page may have none, also if others follow. */
  records: { key: string; bytes: Buffer }[];
  /** Absent on the last page. */
  cursor?: string;
}

/** Images of one state. */
export interface RecordCount {
  state: RecordState;
  images: number;
  /** Bytes of their originals, stored or not. */
  bytes: number;
}

/**
 * Optional ability of a store of records: answers questions about all images without sending each record. It keeps
 * the {@link RecordFacts} of a record beside its bytes, replaced with them. A record without facts, such as a damaged one, is
 * left to the caller.
 */
export interface RecordQueries {
  /**
   * The records that match, and all records without facts.
   * @param nowMs Time of the states, in Unix milliseconds.
   * @param cursor The cursor of the previous page; absent for the first page.
   */
  findRecords(filter: RecordFilter, nowMs: number, cursor?: string): Promise<FoundRecords>;
  /** Number of parts of the records, between which they are distributed at random. */
  readonly recordParts: number;
  /**
   * Counts the images of a part by state.
   * @param part From 0, below `recordParts`.
   * @returns the counts, without empty states, and the keys of records without facts.
   */
  countRecords(part: number, nowMs: number): Promise<{ counts: RecordCount[]; unknown: string[] }>;
}

export function hasRecordQueries(store: BlobStore): store is BlobStore & RecordQueries {
  return "findRecords" in store && "recordParts" in store && "countRecords" in store;
}
