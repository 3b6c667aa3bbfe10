import type { StoreRole } from "../../contracts/observer.ts";
import type { OriginalType, PageSizes } from "../../contracts/renderer.ts";
import type { Agent } from "../../http/agent.ts";
import { isImageId } from "./image-id.ts";

/** The work that an accepted upload waits for. Its worker holds a lease, taken by compare-and-set on the record. */
export interface Processing {
  /** Leases taken, the present one included. One that was given back without a verdict about the file does not count. */
  tries: number;
  /** No other worker may take the lease before this time. */
  leaseUntil: number;
  /** Name of the lease holder; `null`: none. */
  worker: string | null;
}

export type GoneReason = "deleted" | "expired" | "withheld";

/** The end of an image, for good: nothing of it is served from then on, and its bytes are removed. */
export interface Gone {
  at: number;
  why: GoneReason;
}

/** That an image must not be shown, by whom, and for how long. */
export interface Withholding {
  /** Written for clients that ask for the image. */
  reason: string;
  /** URL of the authority that demands it; `null`: not given. */
  authority: string | null;
  /** When it was withheld first. */
  since: number;
  /** When the image is removed for good; `null`: at the end of its life. */
  deleteAfter: number | null;
}

/** Whom the host app named as an image's owner, and what the image counts for among what they have. */
export interface Owner {
  name: string;
  bytes: number;
}

/** What is kept of an image beside its bytes. Dates are Unix milliseconds. */
export interface ImageRecord {
  id: string;
  name: string;
  type: OriginalType;
  /** Bytes of the original; of the upload as it came, while that is processed. */
  size: number;
  /** SHA-256 of the same bytes, hex. */
  sha256: string;
  width: number | null;
  height: number | null;
  pages: number | null;
  /** As {@link Admission.pageSizes}. Records of earlier versions lack it. */
  pageSizes?: PageSizes;
  agent: Agent | null;
  /** `null`: the host named none, or the bytes are removed. Never shown. */
  owner: Owner | null;
  createdAt: number;
  updatedAt: number;
  expiresAt: number;
  /** `null` while it lives. */
  gone: Gone | null;
  /** `null` while it may be shown. */
  withheld: Withholding | null;
  /** What has to be done before it can be served; `null` when nothing has. */
  processing: Processing | null;
  /** Why the upload was refused after it had been accepted; `null` where it was not. */
  failure: string | null;
  /** The record stands for one that cannot be read: nothing but its end and its withholding is known. Absent in all others. */
  damaged?: true;
}

/** What some bytes are as JSON; `null` where they are none. */
export function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    // The caller names what these bytes should have been.
    return null;
  }
}

/** The inverse of `keyOf.record`; `null` for any other key. */
export function idOfRecord(key: string): string | null {
  const [id = "", ...rest] = key.split("/");
  return isImageId(id) && rest.join("/") === "record" ? id : null;
}

/** Keys under which the parts of an image are stored: all of them under its ID, so that removal is complete. */
export const keyOf = {
  record: (id: string) => `${id}/record`,
  original: (id: string) => `${id}/original`,
  /** The file as it came, while it waits to be processed. Never served. */
  upload: (id: string) => `${id}/upload`,
  rendition: (id: string, name: string) => `${id}/renditions/${name}`,
  failure: (id: string, name: string) => `${id}/failures/${name}`,
};

/** What the first segment of keys is that are no part of what is kept: trials of a store, marks, lists of stores without an index. */
const PASSING = /^(?:readyz|doctor|migration|identity|backup|rendition-usage|due-[a-z]{1,20})$/;

/**
 * Which role's store a key belongs to: those of an image as {@link keyOf} makes them, all others to the records.
 * `null` for what comes and goes with the store it is in.
 */
export function roleOf(key: string): StoreRole | null {
  const [first = "", part] = key.split("/");
  if (!isImageId(first)) return PASSING.test(first) ? null : "records";
  if (part === "original" || part === "upload") return "originals";
  return part === "renditions" || part === "failures" ? "renditions" : "records";
}
