import { LRUCache } from "lru-cache";
import { ServiceError } from "../../errors.ts";
import { markReported } from "../../http/failure-listener.ts";

/** Version of the stored format that this release writes. A stored value without a version has version 1. */
export const FORMAT_VERSION = 1;

/**
 * Version of a store as a whole, in its identity. Version 2 has the usage of owners under other keys, and an index of each owner's
 * images: a process that knows only version 1 would count otherwise.
 */
export const STORE_VERSION = 2;

/**
 * Highest version of a record. Only a record that earlier releases would misread has it: one without an expiry. They neither serve,
 * change nor remove it.
 */
export const RECORD_VERSION = 2;

/** Rejection of a stored value that a newer release wrote. This release neither serves nor changes it. */
export class NewerVersion extends ServiceError {
  constructor(what: string, v: unknown, newest: number) {
    const version = JSON.stringify(v);
    super(
      "store_unavailable",
      `${what} has format version ${version}, and this release reads up to ${newest}: upgrade this process`,
    );
    this.name = "NewerVersion";
  }
}

const MAX_REPORTED = 1000;
/** Messages that this process has reported already: each stored value is logged once, not for every request. */
const reported = new LRUCache<string, true>({ max: MAX_REPORTED });

/** Whether this release can read a stored value of this version. Absent means 1. */
export function isKnownVersion(v: unknown, newest = FORMAT_VERSION): boolean {
  return v === undefined || (Number.isInteger(v) && Number(v) >= 1 && Number(v) <= newest);
}

/**
 * Rejects a stored value of an unknown version.
 * @param what Name of the value in messages, e.g. `Image <id>`.
 * @param newest Highest known version.
 * @throws NewerVersion
 */
export function requireKnownVersion(v: unknown, what: string, newest = FORMAT_VERSION): void {
  if (isKnownVersion(v, newest)) return;
  const error = new NewerVersion(what, v, newest);
  if (reported.has(error.message)) markReported(error);
  reported.set(error.message, true);
  throw error;
}
