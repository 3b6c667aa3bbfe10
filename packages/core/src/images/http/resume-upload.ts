import type { Call, Reply } from "../../contracts/call.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { HttpProblem } from "../../http/problem.ts";
import { createImageId } from "../record/image-record.ts";
import { requireAccepted, requireDeclared } from "../uploads/add-image.ts";
import { digestOf, parseIdempotencyKey } from "../uploads/claims.ts";
import type { ResumableUpload, ResumableUploads } from "../uploads/resumable-uploads.ts";
import { MIN_BYTES_PER_SECOND } from "../uploads/uploaded-file.ts";
import {
  CALLED,
  earlierReply,
  finish,
  finishAgain,
  fromPieces,
  type LockedUpload,
  offsetOf,
} from "./complete-upload.ts";
import { permitUpload, requireUserAgent, uploaderOf } from "./create-image.ts";
import { baseUrl, hasBody, type ImageContext, requireUtf8Query, ticketOf } from "./image-context.ts";
import { PieceBody } from "./piece-body.ts";
import { parseDetails } from "./receive-image.ts";
import { offsetHeaders, parseMetadata, requireSize, requireTus } from "./tus-headers.ts";

/** The parts of a query that say something of the image. */
const DETAILS = ["name", "description", "expiresAt", "focus"];
const PIECE_TYPE = "application/offset+octet-stream";
/** The first bytes of a file decide its type, as in a form. */
const HEAD_BYTES = 64 * 1024;

/** `POST {base}/api/uploads` */
export async function beginUpload(context: ImageContext, call: Call): Promise<Reply> {
  requireTus(call);
  requireCreateHeaders(call);
  const { settings } = context;
  const uploads = uploadsOf(context);
  const permission = await permitUpload(context, call);
  const { ticket, grant } = permission;
  if (ticket?.expired) throw ticket.expired;
  const query = new URLSearchParams(call.search);
  // A query may have secrets of the host.
  for (const name of [...query.keys()]) if (!DETAILS.includes(name)) query.delete(name);
  const upload: ResumableUpload = {
    client: digestOf([uploaderOf(call, permission)]),
    owner: grant?.owner ?? null,
    ticket: ticket?.claim ?? null,
    size: requireSize(call, Math.min(settings.maxUploadBytes, ticket?.maxBytes ?? Number.POSITIVE_INFINITY)),
    metadata: call.headers["upload-metadata"]?.toString() ?? "",
    search: query.toString(),
    createdAt: settings.now(),
    image: null,
  };
  const { fields, fileName, declaredType } = parseMetadata(upload.metadata);
  parseDetails(settings, upload.search, fields, "form", fileName);
  requireDeclared(declaredType, CALLED, settings.convertUploads, ticket?.types);
  // The ID is a secret: nothing that is stored or logged has it.
  const id = createImageId();
  const key = digestOf([id]);
  await fromPieces(() => uploads.create(key, upload, grant?.limits ?? settings.ownerLimits));
  // Each later request shows the ticket again.
  const shown = ticketOf(call);
  const suffix = shown === null ? "" : `?ticket=${encodeURIComponent(shown)}`;
  const Location = `${baseUrl(context, call)}/api/uploads/${id}${suffix}`;
  if (call.headers["content-type"] !== PIECE_TYPE || !hasBody(call)) {
    return { status: 201, headers: { ...offsetHeaders(upload, 0), Location } };
  }
  try {
    const { headers } = await uploads.locks.run(key, (interrupted) =>
      receivePiece(context, call, { uploads, key, upload, permission, interrupted }, 0, finishAgain),
    );
    const { "Content-Type": _type, "Content-Length": _length, ...kept } = headers;
    return { status: 201, headers: { ...kept, Location } };
  } catch (error) {
    // All bytes are stored, and it is locked. Without an offset, a client asks for the state.
    if (error instanceof HttpProblem) {
      return { status: 201, headers: { "Cache-Control": "no-store", Location } };
    }
    // The client does not know its address.
    await uploads.remove(key, upload).catch(settings.onError);
    throw error;
  }
}

/** `PATCH {base}/api/uploads/{upload}` */
export async function sendPiece(context: ImageContext, call: Call, id: string): Promise<Reply> {
  return withUpload(context, call, id, async (locked) => {
    requireCreateHeaders(call);
    const { uploads, key, upload } = locked;
    if (call.headers["content-type"] !== PIECE_TYPE) {
      throw new ServiceError("unsupported_media", `The body must be ${PIECE_TYPE}`);
    }
    const offset = upload.image === null ? await offsetOf(uploads, key) : upload.size;
    if (call.headers["upload-offset"] !== String(offset)) {
      throw new ServiceError("conflict", `Upload-Offset must be ${offset}`);
    }
    if (upload.image !== null) return earlierReply(context, call, upload, upload.image);
    return receivePiece(context, call, locked, offset);
  });
}

/** `HEAD {base}/api/uploads/{upload}` */
export async function readUpload(context: ImageContext, call: Call, id: string): Promise<Reply> {
  return withUpload(context, call, id, async (locked) => {
    const { upload, uploads, key } = locked;
    const { size, metadata } = upload;
    const offset = upload.image === null ? await offsetOf(uploads, key) : size;
    let reply: Reply = { status: 200, headers: {} };
    if (upload.image !== null) reply = await earlierReply(context, call, upload, upload.image);
    // Storing it failed after the last byte. The client must not read success before there is an image.
    else if (offset >= size) reply = await finishAgain(context, call, locked);
    const { "Content-Type": _type, "Content-Length": _length, ...headers } = reply.headers;
    const given: Record<string, string> = metadata === "" ? {} : { "Upload-Metadata": metadata };
    const state = { ...offsetHeaders(upload, offset), "Upload-Length": String(size), ...given };
    return { status: 200, headers: { ...headers, ...state } };
  });
}

/** `DELETE {base}/api/uploads/{upload}`. An image that the upload became stays. */
export async function endUpload(context: ImageContext, call: Call, id: string): Promise<Reply> {
  return withUpload(context, call, id, async ({ uploads, key, upload }) => {
    await uploads.remove(key, upload);
    return { status: 204, headers: {} };
  });
}

/** Checks what the request with the last byte must have, before any byte is stored. */
function requireCreateHeaders(call: Call): void {
  requireUtf8Query(call.search);
  requireUserAgent(call);
  parseIdempotencyKey(call.headers["idempotency-key"]);
}

function uploadsOf({ resumable }: ImageContext): ResumableUploads {
  if (resumable === null) throw unknownUpload();
  return resumable;
}

function unknownUpload(): ServiceError {
  return new ServiceError("not_found", "There is no such upload, or it has expired");
}

/** Uses an upload under its lock. Those of other owners look like none. */
async function withUpload(
  context: ImageContext,
  call: Call,
  id: string,
  use: (locked: LockedUpload) => Promise<Reply>,
): Promise<Reply> {
  requireTus(call);
  const permission = await permitUpload(context, call);
  const { ticket, grant } = permission;
  const uploads = uploadsOf(context);
  const key = digestOf([id]);
  const attempt = async (interrupted: AbortSignal) => {
    const upload = await uploads.load(key);
    const isOthers = upload?.owner !== (grant?.owner ?? null) || upload?.ticket !== (ticket?.claim ?? null);
    if (upload === null || isOthers) throw unknownUpload();
    return use({ uploads, key, upload, permission, interrupted });
  };
  return uploads.locks.run(key, (interrupted) =>
    attempt(interrupted).catch(async (error) => {
      // Without leases, another process may have finished the upload meanwhile, and removed its bytes.
      const isFinished = isServiceError(error, "not_found") && (await uploads.load(key))?.image;
      if (!isFinished) throw error;
      return attempt(interrupted);
    }),
  );
}

/**
 * Stores the piece in the body of a request, as far as it arrives: a client that broke off continues there. With the last piece, the
 * upload becomes an image.
 */
async function receivePiece(
  context: ImageContext,
  call: Call,
  locked: LockedUpload,
  start: number,
  complete = finish,
): Promise<Reply> {
  const { uploads, key, upload, permission, interrupted } = locked;
  const { size } = upload;
  const { uploadIdleMs: idleMs, convertUploads } = context.settings;
  const left = size - start;
  if (left > 0 && call.headers["content-length"] === "0") {
    return { status: 204, headers: offsetHeaders(upload, start) };
  }
  if (Number(call.headers["content-length"]) > left) {
    throw new ServiceError("too_large", `Only ${left} bytes of the upload are left`);
  }
  const { declaredType } = parseMetadata(upload.metadata);
  const types = permission.ticket?.types;
  const begun = Buffer.from(upload.head ?? "", "base64");
  // A crash may have lost them: then the whole file is checked.
  const headBytes = begun.length === start ? Math.min(size, HEAD_BYTES) : 0;
  const body = new PieceBody(begun, headBytes, (head) => {
    requireAccepted(
      { declaredType, size, head: head.subarray(0, HEAD_BYTES) },
      CALLED,
      convertUploads,
      types,
    );
  });
  if (interrupted.aborted) body.end();
  interrupted.addEventListener("abort", body.end, { once: true });
  const slot = context.uploads.open(uploaderOf(call, permission), idleMs);
  let failure: unknown = null;
  const received = call
    .bytes({ maxBytes: left, idleMs, minBytesPerSecond: MIN_BYTES_PER_SECOND, slot }, body.take)
    .catch((error) => {
      failure = error;
    })
    .finally(body.end);
  let offset: number;
  try {
    offset = await fromPieces(async () => (await uploads.pieces()).write(body.stream, key, start));
    // An interrupted request is answered before it has sent the rest.
    if (!interrupted.aborted) await received;
  } finally {
    body.stream.destroy();
    slot.done();
  }
  if (body.head !== null && body.head.length === offset && offset < size) {
    await uploads.keepHead(key, body.head);
  }
  if (body.refusal !== null) await uploads.remove(key, upload).catch(context.settings.onError);
  // After a silence, the reply tells the client where to continue.
  if (failure !== null && !isServiceError(failure, "timeout") && !interrupted.aborted) throw failure;
  return offset < size
    ? { status: 204, headers: offsetHeaders(upload, offset) }
    : complete(context, call, locked);
}
