import { instantForJson, pointText, requireIdempotencyKey } from "./checks.ts";
import { type ClientSettings, isBrowser } from "./client-options.ts";
import type { CreatedImage, UploadOptions, UploadProgress } from "./image-types.ts";
import { createMultipart, randomHex } from "./multipart.ts";
import type { OutriggerError } from "./outrigger-error.ts";
import { readCreatedImage } from "./read-image-record.ts";
import { readRefusal } from "./read-refusal.ts";
import { repeat } from "./repeat.ts";
import type { Reply } from "./reply.ts";
import { type Sending, send, withHeaders } from "./send.ts";
import {
  blobOf,
  describeSource,
  isUrlSource,
  type SourceDescription,
  type UploadSource,
  type UrlSource,
} from "./upload-source.ts";
import { sendByXhr } from "./xhr.ts";

/** Sends the upload once; may be called again. Resolves like `send`; rejects with an error of the source. */
type UploadTry = () => Promise<Reply | OutriggerError>;
type Tell = (sentBytes: number, totalBytes: number) => void;

const FILE_FIELD = "imagedata";

export interface UploadedImage {
  image: CreatedImage;
  /** The reply to the create; its `Retry-After` applies if the image is still processed. */
  reply: Reply;
}

/** Uploads an image without waiting until it is ready. */
export async function uploadImage(
  settings: ClientSettings,
  source: UploadSource | UrlSource,
  options: UploadOptions,
): Promise<UploadedImage> {
  const { signal, onProgress, onCreated } = options;
  const progress = createProgress(onProgress);
  const attempt = await openUploadTry(settings, source, options, progress.tell);
  const rules = { isRepeatable: true, isClaimed: true, signal };
  const { reply } = await repeat(settings, rules, attempt);
  if (reply.status !== 201 && reply.status !== 202) throw readRefusal(reply);
  const image = readCreatedImage(reply);
  if (!isUrlSource(source)) progress.end(source.size);
  onCreated?.(image);
  return { image, reply };
}

/** Reports progress to the caller, without duplicates, and finally the total. */
function createProgress(onProgress: UploadOptions["onProgress"]) {
  let last: UploadProgress | null = null;
  function tell(sentBytes: number, totalBytes: number): void {
    if (last?.sentBytes === sentBytes && last.totalBytes === totalBytes) return;
    last = { sentBytes, totalBytes };
    onProgress?.({ sentBytes, totalBytes });
  }
  return {
    tell,
    end(size: number) {
      const totalBytes = last?.totalBytes ?? size;
      tell(totalBytes, totalBytes);
    },
  };
}

/** Prepares an upload. Throws a TypeError for invalid options and sources. */
async function openUploadTry(
  settings: ClientSettings,
  source: UploadSource | UrlSource,
  options: UploadOptions,
  tell: Tell,
): Promise<UploadTry> {
  const { signal, fileName, idempotencyKey = randomHex(16), wait = true, onProgress } = options;
  const sending = {
    method: "POST",
    url: `${settings.baseUrl}/api/images.json`,
    headers: {
      Accept: "application/json",
      "Idempotency-Key": idempotencyKey,
      ...(wait ? {} : { Prefer: "respond-async" }),
    },
    signal,
  } as const;
  requireIdempotencyKey(idempotencyKey);
  if (isUrlSource(source)) {
    const headers = { ...sending.headers, "Content-Type": "application/json" };
    const body = JSON.stringify({ url: String(source.url), ...givenDetails(options) });
    return () => send(settings, { ...sending, headers, body });
  }
  const file = describeSource(source, fileName);
  const details = Object.entries(givenDetails(options));
  const fields = Object.fromEntries(details.map(([field, value]) => [field, String(value)]));
  if (!isBrowser()) return streamTry(settings, sending, source, file, fields, tell);
  const form = await formOf(source, file, fields);
  const hasXhr = typeof XMLHttpRequest !== "undefined" && !settings.hasOwnFetch;
  if (onProgress === undefined || !hasXhr) return () => send(settings, { ...sending, body: form });
  const headers = withHeaders(settings.headers, sending.headers);
  return () => sendByXhr({ url: sending.url, headers, form, signal, onSent: tell });
}

/** Streams the file, reading it again for each try. */
function streamTry(
  settings: ClientSettings,
  sending: Sending,
  source: UploadSource,
  file: SourceDescription,
  fields: Readonly<Record<string, string>>,
  tell: Tell,
): UploadTry {
  const form = createMultipart(fields, { field: FILE_FIELD, source, ...file });
  const headers = {
    ...sending.headers,
    "Content-Type": form.contentType,
    "Content-Length": String(form.length),
  };
  return async () => {
    const body = form.open((sentBytes) => tell(sentBytes, form.length));
    try {
      const result = await send(settings, { ...sending, headers, body: body.stream });
      const failure = body.failure();
      // Not a network failure: a retry would fail again.
      if (failure !== null) throw failure.error;
      return result;
    } finally {
      body.close();
    }
  };
}

/** Browsers do not stream bodies over HTTP/1.1, but they read a `Blob` while they send it. */
async function formOf(
  source: UploadSource,
  { fileName, type }: SourceDescription,
  fields: Readonly<Record<string, string>>,
): Promise<FormData> {
  const blob = await blobOf(source, type);
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set(FILE_FIELD, blob, fileName);
  return form;
}

function givenDetails({ name, expiresAt, focus }: UploadOptions): Record<string, string | number> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(expiresAt === undefined ? {} : { expiresAt: instantForJson("expiresAt", expiresAt) ?? "never" }),
    ...(focus === undefined ? {} : { focus: pointText("focus", focus) }),
  };
}
