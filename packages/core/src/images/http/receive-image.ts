import { isLocalStore } from "../../contracts/blob-store.ts";
import type { Call, SpooledFile, Upload, UploadSlot } from "../../contracts/call.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { networkKey } from "../../http/client.ts";
import type { RemoteAddress } from "../../http/remote/remote-policy.ts";
import { importUrl, parseImportUrl } from "../library/import-url.ts";
import { uploadTypeOf } from "../record/formats.ts";
import {
  type DateSource,
  expiryAfter,
  nameOfFile,
  parseDescription,
  parseExpiry,
  parseName,
} from "../record/image-fields.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { parseFocus } from "../record/picture-point.ts";
import { type ReservationRequest, requireOneOf, type UploadFacts } from "../uploads/add-image.ts";
import { MIN_BYTES_PER_SECOND } from "../uploads/uploaded-file.ts";
import type { ImageContext } from "./image-context.ts";
import { isJson, MAX_BODY_BYTES, refundRequest } from "./image-context.ts";
import type { GatedUpload } from "./upload-slots.ts";

/** Name of the form field for the file. */
export const FILE_FIELD = "imagedata";
/** Name of the JSON value for the address of a file. */
export const URL_FIELD = "url";
const MAX_FIELDS = 16;
const MAX_FIELD_BYTES = 8 * 1024;

/** The file of a create request, with what its fields say. */
export interface ReceivedImage {
  file: SpooledFile;
  /** Throws `bad_request` for a fault in the fields. */
  details(): Pick<UploadFacts, "name" | "description" | "createdAt" | "expiresAt" | "focus" | "called">;
  claim: ReservationRequest["claim"];
}

/** What a create request may send, and how often. */
export interface ReceiveTerms {
  /** Largest file. */
  maxBytes: number;
  /** Types that the file may have; `undefined`: all that the service accepts. */
  types: readonly string[] | undefined;
  /**
   * The claim of the request; `null`: it has no idempotency key.
   * @param file Hash or URL of the file. @param content All that a retry must repeat, `file` included.
   */
  claimOf(file: string, content: () => readonly string[]): ReservationRequest["claim"];
}

/** Receives the body of a create request: a form with the file, or JSON with its URL where the host allows that. */
export async function receiveImage(
  context: ImageContext,
  call: Call,
  upload: GatedUpload,
  terms: ReceiveTerms,
): Promise<ReceivedImage | { made: CurrentRecord }> {
  if (!isJson(call)) return receiveForm(context, call, upload, terms);
  if (context.settings.importsUrls) return receiveByUrl(context, call, upload, terms);
  throw new ServiceError(
    "unsupported_media",
    "The body must be multipart/form-data: this service does not import images by URL (option importUrls)",
  );
}

/**
 * Receives a form, waiting for a slot if many uploads arrive.
 * @param adapt Turns what was received into what the API takes. Must not throw.
 */
export async function receiveForm(
  { library, settings }: ImageContext,
  call: Call,
  slot: UploadSlot,
  { maxBytes, types, claimOf }: ReceiveTerms,
  adapt?: (received: Upload) => Upload,
): Promise<ReceivedImage> {
  const { originals } = library;
  const { fileFields } = settings;
  try {
    const received = await call.upload({
      fileFields: fileFields === "any" ? "any" : [FILE_FIELD, ...fileFields],
      maxFileBytes: maxBytes,
      // A declared type that is wrong ends the upload early. The bytes are checked later.
      checkType: (declared) => {
        const type = uploadTypeOf(declared);
        if (type !== undefined) requireOneOf(type, types);
      },
      maxFields: MAX_FIELDS,
      maxFieldBytes: MAX_FIELD_BYTES,
      idleMs: settings.uploadIdleMs,
      minBytesPerSecond: MIN_BYTES_PER_SECOND,
      slot,
      ...(isLocalStore(originals) ? { spoolDirectory: originals.spoolDirectory } : {}),
    });
    const { file, fields } = adapt?.(received) ?? received;
    const isOther = fileFields === "any" || fileFields.length > 0;
    const called = { file: isOther ? "The file" : FILE_FIELD, declaredType: "its Content-Type" };
    return {
      file,
      details: () => ({ ...parseDetails(settings, call.search, fields, "form", file.name), called }),
      claim: claimOf(file.sha256, () => [
        file.sha256,
        file.declaredType,
        file.name,
        call.search,
        sortedText(fields),
      ]),
    };
  } finally {
    slot.end();
  }
}

/** Fetches the file from another server. All else is checked before. */
async function receiveByUrl(
  context: ImageContext,
  call: Call,
  upload: GatedUpload,
  { maxBytes, claimOf }: ReceiveTerms,
): Promise<ReceivedImage | { made: CurrentRecord }> {
  const { library, settings } = context;
  const fields = await call.fields({ maxBytes: MAX_BODY_BYTES, idleMs: settings.uploadIdleMs });
  const given = fields?.[URL_FIELD];
  if (fields === null || given === undefined) {
    throw new ServiceError("bad_request", `The body must have the ${URL_FIELD} of the file`);
  }
  const address = parseImportUrl(given, library);
  const details = (fileName: string) => parseDetails(settings, call.search, fields, "json", fileName);
  details("");
  // By its URL: the file there may change before a retry.
  const claim = claimOf(address.url.href, () => [call.search, sortedText(fields)]);
  const made = claim === null ? null : await library.claims.find(claim);
  if (made !== null) return { made };
  const file = await fetchFile(context, call, upload, address, maxBytes);
  const called = { file: "The file at url", declaredType: "its bytes" };
  return { file, details: () => ({ ...details(file.name), called }), claim };
}

/** A request that found no place, or lost it, costs its client nothing. */
async function fetchFile(
  context: ImageContext,
  call: Call,
  upload: GatedUpload,
  address: RemoteAddress,
  maxBytes: number,
): Promise<SpooledFile> {
  const { signal } = call;
  try {
    // Counts as an unanswered upload of its client, but takes no slot: another server decides how long it lasts.
    await upload.begin(signal);
    const client = networkKey(upload.client) ?? upload.client;
    const declaredType = "application/octet-stream";
    return await importUrl(context.library, address, { declaredType, client, signal, maxBytes });
  } catch (error) {
    // Free connections stay few: a place is taken back only for a client with fewer, whose own create counts.
    if (isServiceError(error, "overloaded")) {
      await refundRequest(context, call, "creates").catch((failure) =>
        context.settings.onError(failure, call),
      );
    }
    throw error;
  }
}

/** What a create request says of its image. Throws `bad_request` for a fault. @param search Its query. */
export function parseDetails(
  settings: ImageContext["settings"],
  search: string,
  fields: Readonly<Record<string, unknown>>,
  source: DateSource,
  fileName: string,
): Omit<ReturnType<ReceivedImage["details"]>, "called"> {
  const createdAt = settings.now();
  const query = new URLSearchParams(search);
  const inBody = parseExpiry(fields.expiresAt, source, createdAt, settings);
  const expiresAt =
    inBody === undefined ? parseExpiry(query.get("expiresAt"), "query", createdAt, settings) : inBody;
  return {
    name: parseName(fields.name) ?? parseName(query.get("name")) ?? nameOfFile(fileName),
    description:
      parseDescription(fields.description) ?? parseDescription(query.get("description")) ?? undefined,
    createdAt,
    expiresAt: expiresAt === undefined ? expiryAfter(createdAt, settings.httpLifetimeMs) : expiresAt,
    focus: parseFocus(fields.focus || (query.get("focus") ?? undefined)) ?? undefined,
  };
}

/** One text for the same fields in any order. */
function sortedText(fields: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
}
