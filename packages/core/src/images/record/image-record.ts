import { randomBytes } from "node:crypto";
import type { StoreRole } from "../../contracts/observer.ts";
import type {
  ConvertibleType,
  ImageWarning,
  OriginalType,
  PageSizes,
  PicturePoint,
  PicturePreview,
} from "../../contracts/renderer.ts";
import type { Agent } from "../../http/request-headers.ts";
import { type JsonSchema, patternOf } from "../../schema/json-schema.ts";
import { ALL_FORMATS } from "./formats.ts";

/** Work that an accepted upload still needs. Its worker holds a lease, taken by compare-and-set on the record. */
export interface Processing {
  /**
   * Number of leases taken, the current one included. A lease returned without a verdict about the file does not
   * count.
   */
  tries: number;
  /** No other worker may take the lease before this time. */
  leaseUntil: number;
  /** Name of the lease holder; `null`: none. */
  worker: string | null;
  /** The bytes must pass the host's `inspect` before they are served. Absent: the host had none at the upload. */
  inspect?: true;
}

export type GoneReason = "deleted" | "expired" | "withheld";

/** The end of an image, for good: nothing of it is served any more, and its bytes are removed. */
export interface Gone {
  at: number;
  why: GoneReason;
  /** A repair ended the image because its bytes were missing or damaged: a restore may revive it. Absent: it ended otherwise. */
  lost?: true;
}

/** A block on showing an image: its reason, authority and duration. */
export interface Withholding {
  /** Sent to clients that request the image. */
  reason: string;
  /** URL of the authority that demands it; `null`: not given. */
  authority: string | null;
  /** When the image was first withheld. */
  since: number;
  /** When the image is removed for good; `null`: at its expiry. */
  deleteAfter: number | null;
}

/** The last act on an image that has an ID. Its record keeps it, so that a repetition finishes what follows the act. Never shown. */
export interface LastAct {
  /** Random. The images that one `withhold` with `copies` withheld have the same, also after their release. */
  id: string;
  name: "accept" | "refuse" | "withhold" | "release" | "remove" | "removeAll";
  at: number;
  by?: string | undefined;
  /** SHA-256 of the bytes that a `withhold` with `copies` denied, hex. Absent: none. */
  hashes?: readonly string[];
}

/** The owner of an image as named by the host app, and the image's share of the owner's quota. */
export interface Owner {
  name: string;
  bytes: number;
}

/** Stored metadata of an image. Dates are Unix milliseconds. */
export interface ImageRecord extends PicturePreview {
  id: string;
  name: string;
  /** Text for readers who do not see the image, 1 to 1000 characters. Absent: none is set. */
  description?: string;
  /** Of an upload that is yet to be converted: the likely type. */
  type: OriginalType;
  /** The type of the upload, if it was or will be converted. */
  source?: ConvertibleType;
  /** What the original lacks of the upload. Absent: nothing. */
  warnings?: readonly ImageWarning[];
  /** The upload had Content Credentials (C2PA). Absent: none were found. */
  provenance?: true;
  /** Bytes of the original, or of the unprocessed upload while it is processed. */
  size: number;
  /** SHA-256 of the same bytes, hex. Empty once the image has ended. */
  sha256: string;
  /** SHA-256 of the upload, hex. Absent: the original is the upload unchanged, or the image has ended. */
  sourceSha256?: string;
  width: number | null;
  height: number | null;
  pages: number | null;
  /** See {@link Admission.pageSizes}. */
  pageSizes?: PageSizes;
  /** The point that a cut rendition keeps. Absent: none is set. */
  focus?: PicturePoint;
  agent: Agent | null;
  /** `null`: the host named no owner, or the bytes are removed. Never shown. */
  owner: Owner | null;
  createdAt: number;
  updatedAt: number;
  /** `null`: never. */
  expiresAt: number | null;
  /** `null` while the image lives. */
  gone: Gone | null;
  /** `null` while the image may be shown. */
  withheld: Withholding | null;
  /** The image was withheld earlier: it is in the index of withheld images until it ends. Absent: it was not. Never shown. */
  wasReleased?: true;
  /** Absent: there was none, or the image has ended since otherwise. */
  act?: LastAct | undefined;
  /** Work to do before the image can be served; `null` if none remains. */
  processing: Processing | null;
  /** Stored and checked, but not served before an operator accepts it. It does not expire meanwhile. Absent or `null`: it is not held. */
  held?: { since: number } | null;
  /** Why an upload was rejected after a 202; `null` if it was not. */
  failure: string | null;
  /** Absent: every event was delivered, or has no receiver. Never shown. */
  outbox?: Outbox;
  /** Substitute for an unreadable record: only its end and its withholding are known. Absent in all other records. */
  damaged?: true;
}

/** The SHA-256 of the bytes of an image, after and before cleaning, each once. None once it has ended. */
export function hashesOf({ sha256, sourceSha256 = sha256 }: ImageRecord): string[] {
  return [...new Set([sha256, sourceSha256])].filter((hash) => hash !== "");
}

/** Parses JSON. `null` if the bytes are not JSON. */
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

/** Keys of the parts of an image. All start with its ID, so that removal is complete. */
export const keyOf = {
  record: (id: string) => `${id}/record`,
  original: (id: string) => `${id}/original`,
  /** The unprocessed file, while it waits to be processed. Never served. */
  upload: (id: string) => `${id}/upload`,
  rendition: (id: string, name: string) => `${id}/renditions/${name}`,
  /** Notes about the renditions, in the store of the records. */
  notes: (id: string) => `${id}/notes`,
};

/** First key segments of transient data: trials of a store, marks, and lists for stores without an index. */
const PASSING =
  /^(?:readyz|migration|identity|backup|rendition-(?:usage|notes)|resumable(?:-usage)?|due-[a-z]{1,20})$/;

/**
 * The role of the store for a key: by {@link keyOf} for keys of an image, `records` for all others. `null` for
 * transient data, which belongs to one store only.
 */
export function roleOf(key: string): StoreRole | null {
  const [first = "", part] = key.split("/");
  if (!isImageId(first)) return PASSING.test(first) ? null : "records";
  if (part === "original" || part === "upload") return "originals";
  if (part === "notes") return null;
  return part === "renditions" ? "renditions" : "records";
}

/** Characters of an image ID. */
export const ID_LENGTH = 22;

export const IMAGE_ID_SCHEMA = {
  type: "string",
  pattern: "^[A-Za-z0-9_-]{22}$",
  description: "ID of an image.",
  examples: ["kY3vN0cWQe2l8Zr5tXh1aA"],
} as const satisfies JsonSchema;

const IMAGE_ID = patternOf(IMAGE_ID_SCHEMA);

/** 128 random bits as 22 characters of base64url. */
export function createImageId(): string {
  return randomBytes(16).toString("base64url");
}

/** Whether `text` has the form of an image ID. No other text ever reaches a store as an ID. */
export function isImageId(text: string): boolean {
  return IMAGE_ID.test(text);
}

/** An image for the host app, without its PIN. Dates are Unix milliseconds. */
export interface ImageSummary {
  id: string;
  /** Name given by the uploader. Untrusted text. */
  name: string;
  /** Text for readers who do not see the image, likewise untrusted; `null`: none. */
  description: string | null;
  type: OriginalType;
  /** Bytes of the original. */
  size: number;
  /** Owner named by `authorize` at upload; `null` if there is none, or after the bytes were removed. */
  owner: string | null;
  createdAt: number;
  /** `null`: never. */
  expiresAt: number | null;
}

export function summaryOf(record: ImageRecord): ImageSummary {
  const { id, name, description = null, type, size, owner, createdAt, expiresAt } = record;
  return { id, name, description, type, size, owner: owner?.name ?? null, createdAt, expiresAt };
}

export const IMAGE_EVENT_TYPES = [
  "image.stored",
  "image.held",
  "image.accepted",
  "image.removed",
  "image.withheld",
  "image.reported",
] as const;

export type ImageEventType = (typeof IMAGE_EVENT_TYPES)[number];

/** What else an event tells. Texts for the public and dates in Unix milliseconds; never a PIN, an address or a contact. */
export interface ImageEventDetails {
  /** ID of the operator's act, as in the log. Images that were changed together have the same. Absent: no operator did it. */
  act?: string;
  /** Of `image.removed`. `refused`: after an inspection. */
  why?: GoneReason | "refused";
  /** Of `image.removed`: the image was held, so it was never served. */
  wasHeld?: true;
  /** Of `image.withheld`: as readers get it. */
  reason?: string;
  authority?: string | null;
  /** Of `image.withheld`: when the image is removed for good; `null`: at its expiry. */
  deleteAfter?: number | null;
  /** Of `image.reported`. */
  reference?: string;
  reasons?: readonly string[];
  /** Of `image.reported`: when a decision is due. */
  dueAt?: number;
}

/** Something that happened to an image. It arrives at least once, and those of one image in order. */
export interface ImageEvent extends ImageEventDetails {
  /** Unique. A repeated delivery has the same. */
  id: string;
  type: ImageEventType;
  /** When it happened, in Unix milliseconds. */
  at: number;
  /** The image as it was: an image that is removed has its name still. */
  image: ImageSummary;
}

/** An event in a record. */
export interface StoredEvent extends ImageEvent {
  /** Names of the destinations that have not received it. */
  to: readonly string[];
}

/** The undelivered events of an image. Exists only as long as there are any. */
export interface Outbox {
  /** In the order in which they happened, at least one. */
  events: readonly StoredEvent[];
  /** Name of the node that delivers them; `null`: none. */
  worker: string | null;
  /** No other node delivers them before this time. */
  leaseUntil: number;
  /** By destination, for the oldest event that it has not received: failed attempts, and when the next may be. */
  retries: Readonly<Record<string, { tries: number; at: number }>>;
}

/** An image of which caches may have copies. */
export interface PurgedImage extends ImageSummary {
  /**
   * Paths below the mount point at which caches may have copies, each with any query after it. They differ only in the suffix
   * after the ID.
   */
  paths: readonly string[];
}

/** `edited`: the name, the focus or an earlier expiry. */
export type PurgeReason = "withheld" | "deleted" | "edited";

export function purgedImageOf(record: ImageRecord): PurgedImage {
  const suffixes = [...ALL_FORMATS, "jpeg", "auto"];
  return { ...summaryOf(record), paths: suffixes.map((suffix) => `/api/images/${record.id}.${suffix}`) };
}
