import { LRUCache } from "lru-cache";
import type { RecordFacts } from "../../contracts/record-queries.ts";
import { MAX_PAGE_RUNS, MAX_PLACEHOLDER_LENGTH } from "../../contracts/renderer.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { markReported } from "../../http/failure-listener.ts";
import { ORIGINAL_TYPES } from "./formats.ts";
import { type ImageRecord, idOfRecord, jsonIn, keyOf } from "./image-record.ts";
import { BY_RECORD, stateAt } from "./image-state.ts";

/** Version of the stored format. */
export const FORMAT_VERSION = 1;

/** Rejection of a stored value that a newer release wrote. This release neither serves nor changes it. */
export class NewerVersion extends ServiceError {
  constructor(what: string, v: unknown) {
    const version = JSON.stringify(v);
    super(
      "store_unavailable",
      `${what} has format version ${version}, and this release reads version ${FORMAT_VERSION}: upgrade this process`,
    );
    this.name = "NewerVersion";
  }
}

const MAX_REPORTED = 1000;
/** Messages that this process has reported already: each stored value is logged once, not for every request. */
const reported = new LRUCache<string, true>({ max: MAX_REPORTED });

/** Whether this release can read a stored value of this version. A value without one is damaged: its other fields tell. */
export function isKnownVersion(v: unknown): boolean {
  return v === undefined || v === FORMAT_VERSION;
}

/**
 * Rejects a stored value of an unknown version.
 * @param what Name of the value in messages, e.g. `Image <id>`.
 * @throws NewerVersion
 */
export function requireKnownVersion(v: unknown, what: string): void {
  if (isKnownVersion(v)) return;
  const error = new NewerVersion(what, v);
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

const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

/** Also allows an absent field. */
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
  owner: orNull(objectOf({ name: isText, bytes: isBytes })),
  createdAt: isTime,
  updatedAt: isTime,
  expiresAt: orNull(isTime),
  gone: orNull(
    objectOf({ at: isTime, why: (value) => ["deleted", "expired", "withheld"].includes(String(value)) }),
  ),
  withheld: orNull(
    objectOf({
      reason: isText,
      authority: orNothing(isText),
      since: isTime,
      deleteAfter: orNothing(isTime),
    }),
  ),
  processing: orNull(
    objectOf({ tries: isTime, leaseUntil: isTime, worker: orNothing(isText), inspect: orNothing(isFlag) }),
  ),
  held: orNothing(objectOf({ since: isTime })),
  failure: orNull(isText),
  outbox: (value) => value === undefined || isOutbox(value),
  wasReleased: orNothing(isFlag),
  act: orNothing(objectOf({ id: isText, name: isText, at: isTime })),
  damaged: orNothing(isFlag),
};

/** The stored form of a record. */
export function encodeRecord(record: ImageRecord): Buffer {
  return Buffer.from(JSON.stringify({ v: FORMAT_VERSION, ...record }), "utf8");
}

/**
 * The inverse of {@link encodeRecord}.
 * @param id The image that the record must belong to. @default any image
 * @throws NewerVersion for a record of a newer release, ServiceError `damaged` for any other fault.
 */
export function decodeRecord(bytes: Buffer, id?: string): ImageRecord {
  const value = jsonIn(bytes);
  const { v, ...record } = Object(value) as { v?: unknown; id?: unknown }; // Both are checked below.
  requireKnownVersion(v, `The record of image ${id ?? record.id}`);
  const why = value === null ? "it is not JSON" : whyNoRecord(value, id);
  if (why !== null) throw damagedRecord(id, why);
  return record as ImageRecord; // Proved above.
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
  if (!("v" in value)) return "it has no format version";
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
