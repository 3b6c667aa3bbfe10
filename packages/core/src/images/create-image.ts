import { hasSpool } from "../contracts/blob-store.ts";
import type { Call, Reply } from "../contracts/call.ts";
import { ServiceError } from "../errors.ts";
import { parseAsyncPreference } from "../http/prefer.ts";
import { createdReply } from "./created-reply.ts";
import { describeUpload, FILE_FIELD } from "./describe-upload.ts";
import type { ImageContext } from "./image-context.ts";
import type { ImageRecord } from "./image-record.ts";
import { countRequest } from "./limits.ts";
import { requireUtf8Query } from "./read-body.ts";
import { type TakeInOptions, takeIn } from "./take-in.ts";
import { spooledUpload } from "./uploaded-file.ts";

const MAX_FIELDS = 16;
const MAX_FIELD_BYTES = 8 * 1024;

/** `POST {base}/api/images.json` and `.txt`. */
export async function createImage(context: ImageContext, call: Call, suffix: "json" | "txt"): Promise<Reply> {
  const limits = await countRequest(context, call, "creates");
  requireUtf8Query(call.search);
  const userAgent = call.headers["user-agent"];
  if (userAgent === undefined || userAgent.trim() === "") {
    throw new ServiceError("bad_request", "The User-Agent header is required");
  }
  const preference = parseAsyncPreference(call.headers.prefer);
  if (preference !== null) context.jobs.requireRoom();
  // Before anything is stored: without a PIN there would be an image that nobody can edit.
  const pins = await context.pins();
  const record = await receive(context, call, userAgent, { preference, signal: call.signal });
  const reply = createdReply(context, call, record, pins.pinOf(record.id), suffix);
  const isPreferred = reply.status === 202 && preference !== null;
  const applied = isPreferred ? { "Preference-Applied": "respond-async" } : {};
  return { ...reply, headers: { ...reply.headers, ...applied, ...limits } };
}

async function receive(
  context: ImageContext,
  call: Call,
  userAgent: string,
  options: TakeInOptions,
): Promise<ImageRecord> {
  const { originals, settings } = context;
  const received = await call.upload({
    fileField: FILE_FIELD,
    maxFileBytes: settings.maxUploadBytes,
    maxFields: MAX_FIELDS,
    maxFieldBytes: MAX_FIELD_BYTES,
    idleMs: settings.uploadIdleMs,
    ...(hasSpool(originals) ? { spoolDirectory: originals.spoolDirectory } : {}),
  });
  let draft: ImageRecord;
  try {
    draft = describeUpload(settings, call, received, userAgent);
  } catch (error) {
    await received.file.dispose();
    throw error;
  }
  return takeIn(context, draft, spooledUpload(originals, received.file), options);
}
