import { LRUCache } from "lru-cache";
import type { RecordFacts } from "../../contracts/record-queries.ts";
import { MAX_PAGE_RUNS, MAX_PLACEHOLDER_LENGTH } from "../../contracts/renderer.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { markReported } from "../../http/failure-listener.ts";
import { ORIGINAL_TYPES } from "./formats.ts";
import { type ImageRecord, idOfRecord, jsonIn, keyOf } from "./image-record.ts";
import { BY_RECORD, stateAt } from "./image-state.ts";

/** Version of the stored format that this release writes. A stored value without a version has version 1. */
export const FORMAT_VERSION = 1;

/**
 * Version of a store as a whole, in its identity. Version 2 has the usage of owners under other keys, and an index of each owner's
 * images: a process that knows only version 1 would count otherwise.
 */
export const STORE_VERSION = 2;

/**
 * Highest versions of a record. Only a record that earlier releases would misread has them: 2 without an expiry, 3 while its upload is
 * yet to be converted, 4 while its image is held or its upload yet to be inspected. They neither serve, change nor remove it.
 */
const ENDLESS_VERSION = 2;
const CONVERTED_VERSION = 3;
const RECORD_VERSION = 4;

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

/** Whether the value of a field is valid. */
type Check = (value: unknown) => boolean;

const isTime: Check = (value) => typeof value === "number" && Number.isSafeInteger(value);
const isText: Check = (value) => typeof value === "string";
const isBytes: Check = (value) => isTime(value) && Number(value) >= 0;
const isFlag: Check = (value) => value === true;

/** Allows an absent field: records of earlier versions lack some. */
const orNothing =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null || check(value);

/** An object with at least these fields. A later version may have added others. */
const objectOf =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === "object" && value !== null && wrongField(value, fields) === null;

const isPageSizes: Check = (value) =>
  Array.isArray(value) &&
  value.length <= MAX_PAGE_RUNS &&
  value.every((run) => Array.isArray(run) && run.length === 3 && run.every(isBytes));

const PLACEHOLDER = new RegExp(`^(?=.{1,${MAX_PLACEHOLDER_LENGTH}}$)[A-Za-z0-9+/]+={0,2}$`);
const COLOR = /^#[0-9a-f]{6}$/;

/** Whether a text is a {@link PicturePreview.placeholder}. */
export function isPlaceholder(value: unknown): value is string {
  return typeof value === "string" && PLACEHOLDER.test(value);
}

/** Whether a text is a {@link PicturePreview.color}. */
export function isColor(value: unknown): value is string {
  return typeof value === "string" && COLOR.test(value);
}

const isPoint: Check = (value) =>
  Array.isArray(value) &&
  value.length === 2 &&
  value.every((share) => typeof share === "number" && share >= 0 && share <= 1);

const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

const isOutbox = objectOf({
  events: listOf(objectOf({ id: isText, type: isText, at: isTime, image: objectOf({}), to: listOf(isText) })),
  worker: orNothing(isText),
  leaseUntil: isTime,
  retries: objectOf({}),
});

const RECORD: Readonly<Record<keyof ImageRecord, Check>> = {
  id: isText,
  name: isText,
  description: orNothing(isText),
  type: (value) => ORIGINAL_TYPES.some((type) => type === value),
  source: orNothing(isText),
  warnings: orNothing(listOf(isText)),
  provenance: orNothing(isFlag),
  size: isBytes,
  sha256: isText,
  sourceSha256: orNothing(isText),
  width: orNothing(isTime),
  height: orNothing(isTime),
  pages: orNothing(isTime),
  pageSizes: orNothing(isPageSizes),
  placeholder: orNothing(isPlaceholder),
  color: orNothing(isColor),
  alpha: orNothing((value) => typeof value === "boolean"),
  focus: (value) => value === undefined || isPoint(value),
  agent: orNothing(objectOf({})),
  owner: orNothing(objectOf({ name: isText, bytes: isBytes })),
  createdAt: isTime,
  updatedAt: isTime,
  expiresAt: (value) => value === null || isTime(value),
  gone: orNothing(
    objectOf({ at: isTime, why: (value) => ["deleted", "expired", "withheld"].includes(String(value)) }),
  ),
  withheld: orNothing(
    objectOf({
      reason: isText,
      authority: orNothing(isText),
      since: isTime,
      deleteAfter: orNothing(isTime),
    }),
  ),
  processing: orNothing(
    objectOf({ tries: isTime, leaseUntil: isTime, worker: orNothing(isText), inspect: orNothing(isFlag) }),
  ),
  held: orNothing(objectOf({ since: isTime })),
  failure: orNothing(isText),
  outbox: (value) => value === undefined || isOutbox(value),
  wasReleased: orNothing(isFlag),
  act: orNothing(objectOf({ id: isText, name: isText, at: isTime })),
  damaged: orNothing(isFlag),
};

/** Defaults of the fields that records of earlier versions lack. */
const ADDED_LATER = { owner: null, gone: null, withheld: null, processing: null, failure: null };

/** The stored form of a record. */
export function encodeRecord(record: ImageRecord): Buffer {
  return Buffer.from(JSON.stringify({ v: versionOf(record), ...record }), "utf8");
}

function versionOf({ source, processing, held, expiresAt }: ImageRecord): number {
  if (held || processing?.inspect) return RECORD_VERSION;
  if (source !== undefined && processing !== null) return CONVERTED_VERSION;
  return expiresAt === null ? ENDLESS_VERSION : FORMAT_VERSION;
}

/**
 * The inverse of {@link encodeRecord}.
 * @param id The image that the record must belong to. @default any image
 * @throws NewerVersion for a record of a newer release, ServiceError `damaged` for any other fault.
 */
export function decodeRecord(bytes: Buffer, id?: string): ImageRecord {
  const value = jsonIn(bytes);
  const { v, ...record } = Object(value) as { v?: unknown; id?: unknown }; // Both are checked below.
  requireKnownVersion(v, `The record of image ${id ?? record.id}`, RECORD_VERSION);
  const why = value === null ? "it is not JSON" : whyNoRecord(value, id);
  if (why !== null) throw damagedRecord(id, why);
  return { ...ADDED_LATER, ...(record as ImageRecord) }; // Proved above.
}

/**
 * Like {@link decodeRecord}. Rejects the substitute of a damaged record as damaged too, unless it is gone or
 * withheld.
 */
export function readRecord(bytes: Buffer, id: string): ImageRecord {
  const record = decodeRecord(bytes, id);
  if (isUnknown(record)) throw damagedRecord(id, "it was unreadable and has been replaced by a substitute");
  return record;
}

/** Whether a record is a substitute that says nothing about its image. */
export function isUnknown({ damaged, gone, withheld }: ImageRecord): boolean {
  return damaged === true && gone === null && withheld === null;
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
  const { size, owner, createdAt, expiresAt, held, withheld } = record;
  return {
    state: stateAt(record, BY_RECORD).name,
    size,
    owner: owner?.name ?? null,
    createdAt,
    expiresAt: held ? null : expiresAt,
    deleteAfter: withheld?.deleteAfter ?? null,
  };
}

/** @param why A clause without a full stop. */
function damagedRecord(id: string | undefined, why: string): ServiceError {
  const what = id === undefined ? "A record" : `The record of image ${id} (key "${keyOf.record(id)}")`;
  return new ServiceError("damaged", `${what} is damaged: ${why}`);
}

/** Why a value is not an image record, as a clause without a full stop. `null` if it is one. */
function whyNoRecord(value: unknown, id: string | undefined): string | null {
  if (typeof value !== "object" || value === null) return "it is not a JSON object";
  const wrong = wrongField(value, RECORD);
  if (wrong !== null) return `its field "${wrong}" is not valid`;
  return id === undefined || ("id" in value && value.id === id) ? null : "it belongs to another image";
}

/** Whether one field of any value, such as a damaged record, is valid for a record. */
export function hasField<K extends keyof ImageRecord>(
  value: unknown,
  field: K,
): value is Pick<ImageRecord, K> {
  if (typeof value !== "object" || value === null || !(field in value)) return false;
  return RECORD[field]((value as Record<string, unknown>)[field]); // The field exists.
}

function wrongField(value: object, fields: Readonly<Record<string, Check>>): string | null {
  const given = value as Record<string, unknown>; // A missing field reads as undefined.
  return Object.entries(fields).find(([name, check]) => !check(given[name]))?.[0] ?? null;
}
