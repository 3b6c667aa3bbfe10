import { createReadStream } from "node:fs";
import { hasSpool } from "../contracts/blob-store.ts";
import type { Call, Reply, SpooledFile, Upload } from "../contracts/call.ts";
import type { OriginalType } from "../contracts/renderer.ts";
import { ServiceError } from "../errors.ts";
import { parseAgent } from "../http/agent.ts";
import { declaredOriginalType } from "./formats.ts";
import type { ImageContext } from "./image-context.ts";
import { nameOfFile, parseExpiry, parseName } from "./image-fields.ts";
import { createImageId } from "./image-id.ts";
import { baseUrl, createdLinks, editUrl, imageUrl, recordBody } from "./image-links.ts";
import { type ImageRecord, keyOf } from "./image-record.ts";
import { countRequest } from "./limits.ts";
import { requireUtf8Query } from "./read-body.ts";
import { sniffType } from "./sniff.ts";

const FILE_FIELD = "imagedata";
const MAX_FIELDS = 16;
const MAX_FIELD_BYTES = 8 * 1024;

/** `POST {base}/api/images.json` and `.txt`. */
export async function createImage(context: ImageContext, call: Call, suffix: "json" | "txt"): Promise<Reply> {
  const { settings } = context;
  const limits = await countRequest(context, call, "creates");
  requireUtf8Query(call.search);
  const userAgent = call.headers["user-agent"];
  if (userAgent === undefined || userAgent.trim() === "") {
    throw new ServiceError("bad_request", "The User-Agent header is required");
  }
  // Before anything is stored: without a PIN there would be an image that nobody can edit.
  const pins = await context.pins();
  const upload = await call.upload({
    fileField: FILE_FIELD,
    maxFileBytes: settings.maxUploadBytes,
    maxFields: MAX_FIELDS,
    maxFieldBytes: MAX_FIELD_BYTES,
    idleMs: settings.uploadIdleMs,
    ...(hasSpool(context.originals) ? { spoolDirectory: context.originals.spoolDirectory } : {}),
  });
  try {
    const record = await describe(context, call, upload, userAgent);
    await store(context, record, upload.file, call.signal);
    const reply = createdReply(context, call, record, pins.pinOf(record.id), suffix);
    return { ...reply, headers: { ...reply.headers, ...limits } };
  } finally {
    await upload.file.dispose();
  }
}

/** The record of what was uploaded, after every check. */
async function describe(
  { renderer, settings }: ImageContext,
  call: Call,
  { file, fields }: Upload,
  userAgent: string,
): Promise<ImageRecord> {
  const now = settings.now();
  const query = new URLSearchParams(call.search);
  const name = parseName(fields.name) ?? parseName(query.get("name")) ?? nameOfFile(file.name);
  const expiresAt =
    parseExpiry(fields.expiresAt, "form", now, settings) ??
    parseExpiry(query.get("expiresAt"), "query", now, settings) ??
    now + settings.defaultLifetimeMs;
  const type = requireType(file);
  const info = await renderer.inspect({ path: file.path }, type, call.signal);
  return {
    id: createImageId(),
    name,
    type,
    size: file.size,
    sha256: file.sha256,
    ...info,
    agent: parseAgent(userAgent),
    createdAt: now,
    updatedAt: now,
    expiresAt,
    removedAt: null,
  };
}

/** The declared type must be one that we take, and the bytes must be of it. */
function requireType({ declaredType, head }: SpooledFile): OriginalType {
  const declared = declaredOriginalType(declaredType);
  if (declared === undefined) {
    throw new ServiceError(
      "unsupported_media",
      `${FILE_FIELD} must be PNG, JPEG, GIF, SVG, PSD or PDF, declared by its Content-Type`,
    );
  }
  const actual = sniffType(head);
  if (actual === null) {
    throw new ServiceError(
      "unsupported_media",
      `${FILE_FIELD} is not a PNG, JPEG, GIF, SVG, PSD or PDF file`,
    );
  }
  if (declared !== "any" && declared !== actual) {
    throw new ServiceError("unsupported_media", `${FILE_FIELD} is declared as ${declared}, but is ${actual}`);
  }
  return actual;
}

/** Bytes first, the record last: it is the commit point. */
async function store(
  context: ImageContext,
  record: ImageRecord,
  file: SpooledFile,
  signal: AbortSignal,
): Promise<void> {
  const { originals } = context;
  const key = keyOf.original(record.id);
  const options = { ifRevision: null, signal };
  if (hasSpool(originals)) await originals.adopt(key, file.path, options);
  else await originals.put(key, createReadStream(file.path), options);
  try {
    await context.records.create(record, signal);
  } catch (error) {
    await originals.delete(key).catch(context.settings.onError);
    throw error;
  }
}

function createdReply(
  context: ImageContext,
  call: Call,
  record: ImageRecord,
  pin: string,
  suffix: "json" | "txt",
): Reply {
  const base = baseUrl(call, context.settings.publicUrl);
  const url = imageUrl(base, record.id);
  const edit = editUrl(base, record.id, pin);
  const body =
    suffix === "txt" ? `${url}\n` : JSON.stringify({ ...recordBody(base, record), editUrl: edit, pin });
  return {
    status: 201,
    headers: {
      "Content-Type": suffix === "txt" ? "text/plain; charset=utf-8" : "application/json; charset=utf-8",
      "Content-Length": String(Buffer.byteLength(body)),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      Location: url,
      Link: createdLinks(base, record, pin, context.renderer),
      "X-Service-Image-Url": url,
      "X-Service-Image-Edit-Url": edit,
      "X-Service-Image-Pin": pin,
      "X-Service-Image-Id": record.id,
    },
    body,
  };
}
