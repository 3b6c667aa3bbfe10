import { bareTicket, instantForJson, pointText, requireIdempotencyKey } from "./checks.ts";
import { type ClientSettings, isBrowser } from "./client-options.ts";
import { openBody } from "./form-body.ts";
import type { CreatedImage, UploadOptions, UploadProgress } from "./image-types.ts";
import { type Reply, readImageRecord } from "./reply.ts";
import { failedReply, headersOf, request, type Sending, send } from "./request.ts";
import { resumableTry } from "./resumable-upload.ts";
import { fileOf, type UrlSource } from "./upload-source.ts";

/** Sends the upload once; may be called again. Resolves like `send`; rejects with an error of the source. */
type UploadTry = () => Promise<Reply>;
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
  source: Blob | UrlSource,
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
  const isFile = source instanceof Blob;
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
  source: Blob,
  options: UploadOptions,
  tell: Tell,
): Promise<UploadTry> {
  const file = fileOf(source);
  const fields = givenDetails(options);
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set(FILE_FIELD, file);
  const hasXhr = typeof XMLHttpRequest !== "undefined" && !settings.hasOwnFetch;
  const isWatched = options.onProgress !== undefined && hasXhr;
  const sendBody = (given: Sending, body: Blob | FormData, onSent: Tell) => {
    if (!isBrowser()) return streamBody(settings, given, body, onSent);
    return isWatched ? sendByXhr(settings, given, body, onSent) : send(settings, { ...given, body });
  };
  const sendWhole = () => sendBody(sending, form, tell);
  if (options.resumable !== true || file.size <= MIN_RESUMABLE_BYTES) return sendWhole;
  return resumableTry(settings, sending, {
    // Of another Blob nothing tells whether it is the same again.
    blob: "lastModified" in source ? file : source,
    metadata: { filename: file.name, filetype: file.type, ...fields },
    sendBytes: sendBody,
    sendWhole,
    onSent: (sentBytes) => tell(sentBytes, file.size),
  });
}

/** Streams a body in Node, reading its file again. */
async function streamBody(
  settings: ClientSettings,
  sending: Sending,
  given: Blob | FormData,
  tell: Tell,
): Promise<Reply> {
  let length = 0;
  const body = await openBody(given, (sentBytes) => tell(sentBytes, length));
  length = body.length;
  const headers = { "Content-Type": body.contentType, ...sending.headers, "Content-Length": String(length) };
  const reply = await send(settings, { ...sending, headers, body: body.stream });
  const failure = body.failure();
  // Not a network failure: a retry would fail again.
  if (failure !== null) throw failure.error;
  return reply;
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

function givenDetails({ name, description, expiresAt, focus }: UploadOptions): Record<string, string> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(expiresAt === undefined
      ? {}
      : { expiresAt: String(instantForJson("expiresAt", expiresAt) ?? "never") }),
    ...(focus === undefined ? {} : { focus: pointText("focus", focus) }),
  };
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
