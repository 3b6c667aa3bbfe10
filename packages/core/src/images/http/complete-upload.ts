import type { Call, Reply } from "../../contracts/call.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { statusOf } from "../../http/problem.ts";
import { withBody } from "../../stores/blob-body.ts";
import { storeError } from "../../stores/fs/fs-files.ts";
import { spoolSource } from "../library/spool-source.ts";
import { imageUrl } from "../record/image-links.ts";
import { whyUnavailable } from "../record/image-state.ts";
import { BYTES_GONE } from "../store/piece-store.ts";
import { claimName, digestOf } from "../uploads/claims.ts";
import type { ResumableUpload, ResumableUploads } from "../uploads/resumable-uploads.ts";
import { lockedUpload } from "../uploads/upload-locks.ts";
import { temporaryPath } from "../uploads/uploaded-file.ts";
import { createdReply, receiveAndStore, type UploadPermission } from "./create-image.ts";
import { baseUrl, type ImageContext } from "./image-context.ts";
import { parseDetails, type ReceiveTerms, type receiveImage } from "./receive-image.ts";
import { offsetHeaders, parseMetadata } from "./tus-headers.ts";
import type { GatedUpload } from "./upload-slots.ts";

/** How long all replies about a finished upload have the headers of the create. */
const HEADERS_MS = 10 * 60_000;

/** The names of a file and its declared type in messages. */
export const CALLED = { file: "The file", declaredType: "filetype in Upload-Metadata" };

/** An upload under its lock. */
export interface LockedUpload {
  uploads: ResumableUploads;
  key: string;
  upload: ResumableUpload;
  permission: UploadPermission;
  interrupted: AbortSignal;
}

/** How much of an upload is stored. */
export async function offsetOf(uploads: ResumableUploads, key: string): Promise<number> {
  return fromPieces(async () => (await (await uploads.pieces()).getUpload(key)).offset);
}

/** Work in the store of unfinished uploads, whose errors are objects without a type. */
export async function fromPieces<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    // The client disconnected.
    signal?.throwIfAborted();
    const error = storeError(cause);
    if (isServiceError(error)) throw error;
    if ([404, 410].includes(Object(cause).status_code)) {
      throw new ServiceError("not_found", BYTES_GONE);
    }
    throw new ServiceError("store_unavailable", "The store of unfinished uploads failed", { cause });
  }
}

/** Stores a complete upload as an image. @returns the reply to the request that completed it. */
export async function finish(
  context: ImageContext,
  call: Call,
  { uploads, key, upload, permission }: LockedUpload,
): Promise<Reply> {
  let isOfFile = false;
  const receive: typeof receiveImage = (_context, _call, slot, terms) => {
    isOfFile = true;
    return receivePieces(context, call, { uploads, key, upload }, slot, terms);
  };
  let { ticket } = permission;
  // It was valid when the upload began.
  if (ticket !== null && (ticket.expiresAt ?? Number.POSITIVE_INFINITY) > context.settings.now())
    ticket = { ...ticket, expired: undefined };
  const storing = receiveAndStore(context, call, receive, async () => ({ ...permission, ticket }));
  const { record, hasPin, preference } = await storing.catch(async (error) => {
    // A file that is refused now is refused whenever it is sent: also 409 for other bytes under a used ticket.
    const isFinal = isServiceError(error, "conflict") && error.retryAfterMs === undefined;
    // A fault of this request's headers says nothing of the file.
    const isOfHeaders = !isOfFile && statusOf(error) === 400;
    if (isFinal || (!isOfHeaders && [400, 403, 413, 415, 451, 501].includes(statusOf(error))))
      await uploads.remove(key, upload).catch(context.settings.onError);
    throw error;
  });
  await uploads.finish(key, upload, record.id);
  return finishedReply(call, upload, createdReply(context, call, record, "json", hasPin, preference));
}

/** As {@link finish}, with 423 for a failure that may pass: after another status, the client would send the whole file again. */
export async function finishAgain(context: ImageContext, call: Call, locked: LockedUpload): Promise<Reply> {
  try {
    return await finish(context, call, locked);
  } catch (error) {
    const isLasting = isServiceError(error, "conflict")
      ? error.retryAfterMs === undefined
      : statusOf(error) < 500;
    if (isLasting || call.signal.aborted) throw error;
    if (!isServiceError(error, "conflict")) context.settings.onError(error, call);
    throw lockedUpload();
  }
}

/** The bytes of a complete upload, as those of a create request. */
async function receivePieces(
  context: ImageContext,
  { signal }: Call,
  { uploads, key, upload }: Pick<LockedUpload, "uploads" | "key" | "upload">,
  slot: GatedUpload,
  terms: ReceiveTerms,
): ReturnType<typeof receiveImage> {
  const { library, settings } = context;
  const { metadata, search } = upload;
  // Of this upload alone, whatever its client sends with the last piece.
  const own = { name: claimName(["resumable"], key), fingerprint: digestOf([key]) };
  const made = upload.ticket === null ? await library.claims.find(own) : null;
  if (made !== null) return { made };
  await slot.begin(signal);
  const { fields, fileName, declaredType } = parseMetadata(metadata);
  const path = temporaryPath(library.originals);
  const options = { path, declaredType, maxBytes: terms.maxBytes, signal };
  const file = await fromPieces(async () => {
    const bytes = await (await uploads.pieces()).read(key);
    return withBody(bytes, () => spoolSource(bytes, options));
  }, signal);
  if (file.size !== upload.size) {
    await file.dispose();
    await uploads.remove(key, upload);
    throw new ServiceError("damaged", `Of ${upload.size} bytes of an upload, the store has ${file.size}`);
  }
  const claim = upload.ticket === null ? own : terms.claimOf(file.sha256, () => []);
  const details = () => ({ ...parseDetails(settings, search, fields, "form", fileName), called: CALLED });
  return { file, details, claim };
}

/** The reply about an upload that has become an image: that of a create request, whose record a ready image has for JSON alone. */
function finishedReply(
  { headers: { accept } }: Call,
  upload: ResumableUpload,
  { status, headers, body }: Reply,
): Reply {
  const all = { ...headers, ...offsetHeaders(upload, upload.size) };
  // Clients of tus expect 204. Those of this service may upload without a permission to read.
  const hasRecord = status === 202 || accept?.includes("application/json");
  if (hasRecord && body !== undefined) return { status, headers: all, body };
  const { "Content-Type": _type, "Content-Length": _length, ...kept } = all;
  return { status: 204, headers: kept };
}

/** The reply about an upload that became an image earlier. After ten minutes only the record has the PIN, as by an `Idempotency-Key`. */
export async function earlierReply(
  context: ImageContext,
  call: Call,
  upload: ResumableUpload,
  { id, storedAt }: NonNullable<ResumableUpload["image"]>,
): Promise<Reply> {
  const { library, settings } = context;
  const now = settings.now();
  const isRecent = now < storedAt + HEADERS_MS;
  const address = { Location: imageUrl(baseUrl(context, call), id) };
  const record = (await library.records.load(id, call.signal))?.record ?? null;
  if (record === null || whyUnavailable(record, now, settings.tombstoneMs) !== null) {
    return finishedReply(call, upload, { status: 201, headers: address });
  }
  const created = createdReply(context, call, record, "json", upload.ticket === null);
  if (isRecent) return finishedReply(call, upload, created);
  const { "Content-Type": type = "", "Content-Length": length = "" } = created.headers;
  const headers = { ...address, "Content-Type": type, "Content-Length": length };
  return finishedReply(call, upload, { ...created, headers });
}
