import { isLocalStore } from "../../contracts/blob-store.ts";
import type { Call, Reply, Upload, UploadTurn } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import { clientKey } from "../../http/client-key.ts";
import { parseAsyncPreference } from "../../http/prefer.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { describeUpload, FILE_FIELD } from "../uploads/describe-upload.ts";
import { parseIdempotencyKey } from "../uploads/idempotency-key.ts";
import { type Reservation, reserveImage } from "../uploads/reserve-image.ts";
import { type TakeInOptions, takeIn } from "../uploads/take-in.ts";
import { spooledUpload } from "../uploads/uploaded-file.ts";
import { createdReply } from "./created-reply.ts";
import type { ImageContext } from "./image-context.ts";
import { countRequest } from "./limits.ts";
import { type OwnerGrant, permitCreate } from "./permissions.ts";
import { requireUtf8Query } from "./read-body.ts";

const MAX_FIELDS = 16;
const MAX_FIELD_BYTES = 8 * 1024;

/** What the head of a create says. */
interface CreateRequest extends Omit<TakeInOptions, "beforeStoring"> {
  userAgent: string;
  grant: OwnerGrant | null;
  idempotencyKey: string | null;
}

/** `POST {base}/api/images.json` and `.txt`. */
export async function createImage(context: ImageContext, call: Call, suffix: "json" | "txt"): Promise<Reply> {
  const limits = await countRequest(context, call, "creates");
  requireUtf8Query(call.search);
  const userAgent = call.headers["user-agent"];
  if (userAgent === undefined || userAgent.trim() === "") {
    throw new ServiceError("bad_request", "The User-Agent header is required");
  }
  const preference = parseAsyncPreference(call.headers.prefer);
  const idempotencyKey = parseIdempotencyKey(call.headers["idempotency-key"]);
  const grant = await permitCreate(context, call);
  if (preference !== null) await context.jobs.requireRoom();
  // Before anything is stored: without a PIN there would be an image that nobody can edit.
  const pins = await context.pins();
  const client = grant === null ? clientKey(call.clientIp) : `owner ${grant.owner}`;
  const request = { userAgent, grant, idempotencyKey, preference, client, signal: call.signal };
  const record = await receive(context, call, request);
  const reply = createdReply(context, call, record, pins.pinOf(record.id), suffix);
  const isPreferred = reply.status === 202 && preference !== null;
  const applied = isPreferred ? { "Preference-Applied": "respond-async" } : {};
  return { ...reply, headers: { ...reply.headers, ...applied, ...limits } };
}

async function receive(context: ImageContext, call: Call, request: CreateRequest): Promise<ImageRecord> {
  const turn = context.uploadTurns.turnOf(request.client, context.settings.uploadIdleMs);
  try {
    return await store(context, call, request, await receiveInTurn(context, call, turn));
  } finally {
    turn.done();
  }
}

async function store(
  context: ImageContext,
  call: Call,
  request: CreateRequest,
  received: Upload,
): Promise<ImageRecord> {
  const { originals } = context;
  const upload = spooledUpload(originals, received.file);
  let draft: ImageRecord;
  let reservation: Reservation | { made: ImageRecord };
  try {
    draft = describeUpload(context.settings, call, received, request);
    reservation = await reserveImage(context, call, received, draft, request);
  } catch (error) {
    await upload.dispose();
    throw error;
  }
  if ("made" in reservation) {
    await upload.dispose();
    return reservation.made;
  }
  try {
    const record = await takeIn(context, draft, upload, { ...request, beforeStoring: reservation.confirm });
    reservation.settle();
    return record;
  } catch (error) {
    await reservation.undo();
    throw error;
  }
}

/** Waits for its turn where many uploads arrive, and receives the body. */
async function receiveInTurn(
  { originals, settings }: ImageContext,
  call: Call,
  turn: UploadTurn,
): Promise<Upload> {
  try {
    return await call.upload({
      fileField: FILE_FIELD,
      maxFileBytes: settings.maxUploadBytes,
      maxFields: MAX_FIELDS,
      maxFieldBytes: MAX_FIELD_BYTES,
      idleMs: settings.uploadIdleMs,
      minBytesPerSecond: settings.minUploadBytesPerSecond,
      turn,
      ...(isLocalStore(originals) ? { spoolDirectory: originals.spoolDirectory } : {}),
    });
  } finally {
    turn.end();
  }
}
