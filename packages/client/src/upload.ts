import { bareTicket, instantForJson, pointText, requireIdempotencyKey } from "./checks.ts";
import { type ClientSettings, isBrowser } from "./client-options.ts";
import type { CreatedImage, UploadOptions, UploadProgress } from "./image-types.ts";
import { createMultipart, createPlain, randomHex } from "./multipart.ts";
import { type Reply, readImageRecord } from "./reply.ts";
import { failedReply, headersOf, request, type Sending, send } from "./request.ts";
import { resumableTry } from "./resumable-upload.ts";
import { blobOf, describeSource, isUrlSource, type UploadSource, type UrlSource } from "./upload-source.ts";

/** Sends the upload once; may be called again. Resolves like `send`; rejects with an error of the source. */
type UploadTry = () => Promise<Reply>;
type StreamedBody = ReturnType<typeof createMultipart>;
type Tell = (sentBytes: number, totalBytes: number) => void;

const FILE_FIELD = "imagedata";
/** The bytes of a smaller file are sent again sooner than more requests are answered. */
const MIN_RESUMABLE_BYTES = 2 ** 20;

export interface UploadedImage {
  image: CreatedImage;
  /** The reply to the create; its `Retry-After` applies if the image is still processed. */
  reply: Reply;
}

/** Uploads an image without waiting until it is ready. Throws a TypeError for invalid options and sources. */
export async function uploadImage(
  settings: ClientSettings,
  source: UploadSource | UrlSource,
  options: UploadOptions,
): Promise<UploadedImage> {
  const { signal, idempotencyKey = randomHex(16), wait = true, onProgress, onCreated } = options;
  requireIdempotencyKey(idempotencyKey);
  const ticket = options.ticket === undefined ? "" : `?ticket=${bareTicket(options.ticket)}`;
  const sending: Sending = {
    method: "POST",
    url: `${settings.baseUrl}/api/images.json${ticket}`,
    headers: {
      Accept: "application/json",
      "Idempotency-Key": idempotencyKey,
      ...(wait ? {} : { Prefer: "respond-async" }),
    },
    signal,
    expected: [201, 202],
    isClaimed: true,
    ...(ticket === "" ? {} : { secrets: [ticket] }),
  };
  const isFile = !isUrlSource(source);
  if (!isFile) {
    sending.headers = { ...sending.headers, "Content-Type": "application/json" };
    sending.body = JSON.stringify({ url: String(source.url), ...givenDetails(options) });
  }
  let last: UploadProgress | null = null;
  /** Reports progress without duplicates. */
  function tell(sentBytes: number, totalBytes: number): void {
    if (last?.sentBytes === sentBytes && last.totalBytes === totalBytes) return;
    last = { sentBytes, totalBytes };
    onProgress?.({ sentBytes, totalBytes });
  }
  const attempt = isFile ? await fileTry(settings, sending, source, options, tell) : undefined;
  const reply = await request(settings, sending, attempt);
  // Only replies to a create have the PIN and the edit URL, unless a ticket omits them.
  const image = readImageRecord(reply) as CreatedImage;
  if (isFile) {
    const { totalBytes } = last ?? { totalBytes: source.size };
    tell(totalBytes, totalBytes);
  }
  onCreated?.(image);
  return { image, reply };
}

async function fileTry(
  settings: ClientSettings,
  sending: Sending,
  source: UploadSource,
  options: UploadOptions,
  tell: Tell,
): Promise<UploadTry> {
  const file = describeSource(source, options.fileName);
  const fields = givenDetails(options);
  // Browsers do not stream bodies over HTTP/1.1, but they read a `Blob` while they send it.
  const blob = source instanceof Blob || isBrowser() ? await blobOf(source, file.type) : null;
  let form: FormData | StreamedBody;
  if (blob === null || !isBrowser()) form = createMultipart(fields, { field: FILE_FIELD, source, ...file });
  else {
    form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
    form.set(FILE_FIELD, blob, file.fileName);
  }
  const hasXhr = typeof XMLHttpRequest !== "undefined" && !settings.hasOwnFetch;
  const isWatched = options.onProgress !== undefined && hasXhr;
  const sendBody = (given: Sending, body: Blob | FormData | StreamedBody, onSent: Tell) => {
    if ("open" in body) return streamBody(settings, given, body, onSent);
    return isWatched ? sendByXhr(settings, given, body, onSent) : send(settings, { ...given, body });
  };
  const sendWhole = () => sendBody(sending, form, tell);
  const { resumable = false } = options;
  const upload = resumable === true ? {} : resumable;
  const isLarge = file.size > MIN_RESUMABLE_BYTES;
  if (blob === null || upload === false || !(isLarge || upload.uploadId !== undefined)) return sendWhole;
  return resumableTry(settings, sending, {
    ...upload,
    blob,
    metadata: { filename: file.fileName, filetype: file.type, ...fields },
    sendBytes(given, bytes, start) {
      tell(start, file.size);
      const body = isBrowser() ? bytes : createPlain(bytes);
      return sendBody(given, body, (sentBytes) => tell(start + sentBytes, file.size));
    },
    sendWhole,
  });
}

/** Streams a body, reading its source again. */
async function streamBody(
  settings: ClientSettings,
  sending: Sending,
  { contentType, length, open }: StreamedBody,
  tell: Tell,
): Promise<Reply> {
  const headers = { "Content-Type": contentType, ...sending.headers, "Content-Length": String(length) };
  const body = open((sentBytes) => tell(sentBytes, length));
  try {
    const reply = await send(settings, { ...sending, headers, body: body.stream });
    const failure = body.failure();
    // Not a network failure: a retry would fail again.
    if (failure !== null) throw failure.error;
    return reply;
  } finally {
    body.close();
  }
}

/**
 * Sends an upload by XMLHttpRequest, the only API of browsers with upload progress. Resolves and rejects like `send`, and
 * rejects with errors of the listener.
 */
function sendByXhr(
  settings: ClientSettings,
  sending: Sending,
  body: Blob | FormData,
  tell: Tell,
): Promise<Reply> {
  const { method = "POST", url, signal } = sending;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const request = new XMLHttpRequest();
    const onAbort = () => {
      reject(signal?.reason);
      request.abort();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    request.upload.onprogress = ({ loaded, total }) => {
      try {
        tell(loaded, total);
      } catch (error) {
        reject(error);
        request.abort();
      }
    };
    request.onload = () => resolve(replyOf(request));
    const reason = "the network failed, or the server does not allow requests from this page (CORS)";
    request.onerror = () => resolve(failedReply(url, reason));
    request.ontimeout = request.onerror;
    request.onloadend = () => signal?.removeEventListener("abort", onAbort);
    request.open(method, url);
    headersOf(settings, sending).forEach((value, name) => {
      request.setRequestHeader(name, value);
    });
    request.send(body);
  });
}

function replyOf(request: XMLHttpRequest): Reply {
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().trim().split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return { status: request.status, statusText: request.statusText, headers, text: request.responseText };
}

function givenDetails({
  name,
  description,
  expiresAt,
  focus,
}: UploadOptions): Record<string, string | number> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(expiresAt === undefined ? {} : { expiresAt: instantForJson("expiresAt", expiresAt) ?? "never" }),
    ...(focus === undefined ? {} : { focus: pointText("focus", focus) }),
  };
}
