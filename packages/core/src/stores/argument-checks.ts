import { isBlobKey } from "../contracts/blob-store.ts";
import { isLeaseLength } from "../contracts/lease-store.ts";
import { ServiceError } from "../errors.ts";

/** Keys of a page, at most, and by default. */
export const MAX_PAGE = 1000;

/** Throws `bad_request` for what is no key of a blob. */
export function checkBlobKey(key: string): void {
  if (!isBlobKey(key)) throw new ServiceError("bad_request", "That is not a key.");
}

/** Throws `bad_request` for what cannot be listed: a prefix is empty, or a key and `/`; a page has 1 to 1000 keys. */
export function checkListing(prefix: string, limit: number): void {
  if (prefix !== "" && !(prefix.endsWith("/") && isBlobKey(prefix.slice(0, -1)))) {
    throw new ServiceError("bad_request", "That is not a prefix of keys.");
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw new ServiceError("bad_request", `A page has 1 to ${MAX_PAGE} keys.`);
  }
}

/** Throws `bad_request` for what is no length of a lease. */
export function checkLeaseLength(leaseMs: number): void {
  if (!isLeaseLength(leaseMs)) throw new ServiceError("bad_request", "That is not the length of a lease.");
}
