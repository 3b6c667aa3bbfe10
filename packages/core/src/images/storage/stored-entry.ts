import { isServiceError } from "../../errors.ts";
import { USAGES } from "../owners/stored-usages.ts";
import { decodeUsage } from "../owners/usage-record.ts";
import { type ImageRecord, idOfRecord, keyOf } from "../record/image-record.ts";
import { BY_RECORD, stateAt } from "../record/image-state.ts";
import { NewerVersion, readRecord } from "../record/record-codec.ts";
import { decodeCases, REPORTS, type ReportCase } from "../reports/report-case.ts";
import { decodeClaim } from "../uploads/claims.ts";

/** What the bytes at a key of the records' store say. */
export interface StoredEntry {
  /** `usage`: of an owner. `claim`: of an idempotency key. `reports`: of an image. `other`: nothing to be checked. */
  kind: "image" | "usage" | "claim" | "reports" | "other";
  /** `null`: the key belongs to no image. */
  id: string | null;
  /** `null`: it is no record of an image, or has a problem. */
  record: ImageRecord | null;
  /** When the claim was made, in Unix milliseconds; `null`: it is no claim, or has a problem. */
  claimedAt: number | null;
  /** `null`: they are no reports, or have a problem. */
  reports: readonly ReportCase[] | null;
  /** `newer`: a newer release wrote it, which is no damage. `null`: none. */
  problem: "damaged" | "newer" | null;
  /** The problem as a sentence. */
  detail: string;
}

const KINDS = [
  [USAGES, "usage"],
  ["idempotency/", "claim"],
  [REPORTS, "reports"],
] as const;

/** Reads the bytes at a key of the records' store. */
export function readEntry(key: string, bytes: Buffer): StoredEntry {
  const id = idOfRecord(key);
  const kind = id === null ? (KINDS.find(([prefix]) => key.startsWith(prefix))?.[1] ?? "other") : "image";
  const entry: StoredEntry = {
    kind,
    id,
    record: null,
    claimedAt: null,
    reports: null,
    problem: null,
    detail: "",
  };
  try {
    if (kind === "image" && id !== null) entry.record = readRecord(bytes, id);
    else if (kind === "claim") entry.claimedAt = decodeClaim(bytes, key).createdAt;
    else if (kind === "reports") entry.reports = decodeCases(bytes, key);
    else if (kind === "usage") decodeUsage(bytes, key);
  } catch (error) {
    const isNewer = error instanceof NewerVersion;
    if (!isNewer && !isServiceError(error, "damaged")) throw error;
    entry.problem = isNewer ? "newer" : "damaged";
    entry.detail = error.message;
  }
  return entry;
}

/** Key of the original that a record names, or of its unprocessed upload; `null`: the image has ended, and has no bytes. */
export function bytesKeyOf(record: ImageRecord): string | null {
  if (stateAt(record, BY_RECORD).isOver) return null;
  return record.processing === null ? keyOf.original(record.id) : keyOf.upload(record.id);
}
