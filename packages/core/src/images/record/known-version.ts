import { LRUCache } from "lru-cache";
import { ServiceError } from "../../errors.ts";
import { markReported } from "../../http/failure-listener.ts";

/** Version of the format that this release writes. Stored values without a version have 1. */
export const FORMAT_VERSION = 1;

/** A stored value that a newer release wrote. This release neither serves nor changes it. */
export class NewerVersion extends ServiceError {
  constructor(what: string, v: unknown) {
    const version = JSON.stringify(v);
    super(
      "store_unavailable",
      `${what} has format version ${version}, and this release reads up to ${FORMAT_VERSION}: upgrade this process`,
    );
    this.name = "NewerVersion";
  }
}

const MAX_TOLD = 1000;
/** Messages that this process has reported: one line for each stored value, however many requests meet it. */
const told = new LRUCache<string, true>({ max: MAX_TOLD });

/** Whether this release reads a stored value of this version. Absent is 1. */
export function isKnownVersion(v: unknown): boolean {
  return v === undefined || (Number.isInteger(v) && Number(v) >= 1 && Number(v) <= FORMAT_VERSION);
}

/**
 * Rejects a stored value of an unknown version.
 * @param what names the value in the log, e.g. `Image <id>`.
 * @throws NewerVersion
 */
export function requireKnownVersion(v: unknown, what: string): void {
  if (isKnownVersion(v)) return;
  const error = new NewerVersion(what, v);
  if (told.has(error.message)) markReported(error);
  told.set(error.message, true);
  throw error;
}
