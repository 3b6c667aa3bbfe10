import { type ByteRange, isBlobKey } from "../contracts/blob-store.ts";
import { isLeaseLength } from "../contracts/lease-store.ts";
import { ServiceError } from "../errors.ts";

/** Maximum and default number of keys per page. */
export const MAX_PAGE = 1000;

/** Throws `bad_request` for a value that is not a blob key. */
export function checkBlobKey(key: string): void {
  if (!isBlobKey(key))
    throw new ServiceError(
      "bad_request",
      "Not a blob key: use one to eight segments of letters, digits, `-`, `_` and `.`, joined by `/`",
    );
}

/** Throws `bad_request` for a value that is not a key of one segment. */
export function checkSegment(name: string): void {
  if (name.includes("/")) throw new ServiceError("bad_request", "Not one segment of a blob key");
  checkBlobKey(name);
}

/**
 * Throws `bad_request` for an invalid listing: a prefix is empty, or a key followed by `/`; a page has 1 to
 * 1000 keys.
 */
export function checkListing(prefix: string, limit: number): void {
  if (prefix !== "" && !(prefix.endsWith("/") && isBlobKey(prefix.slice(0, -1)))) {
    throw new ServiceError(
      "bad_request",
      "Not a key prefix: use an empty string, or a blob key followed by `/`",
    );
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw new ServiceError("bad_request", `The limit of a page must be an integer from 1 to ${MAX_PAGE}`);
  }
}

/** Throws `bad_request` for an invalid lease length. */
export function checkLeaseLength(leaseMs: number): void {
  if (!isLeaseLength(leaseMs))
    throw new ServiceError("bad_request", "The lease length must be an integer from 100 to 3,600,000 ms");
}

/** The error for a cursor that a store's `list` did not return. */
export function badCursor(): ServiceError {
  return new ServiceError(
    "bad_request",
    "The cursor does not belong to this list. Pass the cursor of a page, unchanged.",
  );
}

/** The error of a `put` whose `ifRevision` is not the current one. */
export function writeConflict(): ServiceError {
  return new ServiceError("conflict", "The blob was changed by another call.");
}

/** The part of a range that lies within a blob of `size` bytes. Throws `bad_request` if it begins elsewhere, or is no range. */
export function rangeWithin({ start, end }: ByteRange, size: number): ByteRange {
  const isRange = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end;
  if (!isRange || start >= size)
    throw new ServiceError("bad_request", "The range must begin within the blob");
  return { start, end: Math.min(end, size - 1) };
}
