import type { ClientSettings } from "./client-options.ts";
import type { ResumableUpload } from "./image-types.ts";
import { type Reply, unexpectedReply } from "./reply.ts";
import { failedReply, type Sending, send } from "./request.ts";

/** A proxy that passes on only complete requests loses at most one part when a connection breaks. */
const PART_BYTES = 8 * 2 ** 20;
const UPLOAD_ID = /^[\w-]{1,128}$/;
const TUS = { "Tus-Resumable": "1.0.0" };

export interface ResumableFile extends ResumableUpload {
  blob: Blob;
  metadata: Readonly<Record<string, string | number>>;
  /** Sends bytes of the file, from `start` of it. */
  sendBytes(sending: Sending, bytes: Blob, start: number): Promise<Reply>;
  /** Sends the file in one request, to a service without resumable uploads. */
  sendWhole(): Promise<Reply>;
}

/** Deletes an unfinished upload. Throws a TypeError for an invalid ID, before it is used in a path. */
export function discarding(baseUrl: string, uploadId: string): Sending {
  const url = uploadAddress(baseUrl, uploadId);
  return { method: "DELETE", url, headers: TUS, keepalive: true, expected: [204, 404, 410] };
}

/**
 * The tries of an upload by tus 1.0, each from the last byte that the service has. They resolve like `send`, after the last byte
 * with the reply to a create.
 * @param create Its query and its headers are sent with every request.
 */
export function resumableTry(
  settings: ClientSettings,
  create: Sending,
  { blob, metadata, uploadId, onUploadId, sendBytes, sendWhole }: ResumableFile,
): () => Promise<Reply> {
  const { baseUrl } = settings;
  const { size } = blob;
  const query = new URL(create.url).search;
  let url = uploadId === undefined ? null : uploadAddress(baseUrl, uploadId) + query;
  let reached = 0;

  function asking(method: Sending["method"], target: string, headers?: Sending["headers"]): Sending {
    return { ...create, method, url: target, headers: { ...create.headers, ...TUS, ...headers } };
  }

  async function begin(): Promise<Reply> {
    url = null;
    const pairs = Object.entries(metadata).map(([key, value]) => `${key} ${base64(String(value))}`);
    const headers = { "Upload-Length": String(size), "Upload-Metadata": pairs.join() };
    const reply = await send(settings, asking("POST", `${baseUrl}/api/uploads${query}`, headers));
    if (reply.status === 404 || reply.status === 405) return sendWhole();
    if (reply.status !== 201) return reply;
    const id = /([^/?]*)(?:\?.*)?$/.exec(reply.headers.get("Location") ?? "")?.[1] ?? "";
    if (!UPLOAD_ID.test(id)) throw unexpectedReply(reply);
    url = uploadAddress(baseUrl, id) + query;
    onUploadId?.(id);
    reached = 0;
    return sendFrom(url, 0);
  }

  async function sendFrom(target: string, start: number): Promise<Reply> {
    let hasProgressed = start > reached;
    for (reached = start; ; hasProgressed = true) {
      const headers = {
        "Content-Type": "application/offset+octet-stream",
        "Upload-Offset": String(reached),
      };
      const part = blob.slice(reached, reached + PART_BYTES);
      const reply = await sendBytes(asking("PATCH", target, headers), part, reached);
      if (isSuccess(reply) && reply.text !== "") return reply;
      let state = reply;
      if (reply.status === 409 && !reply.headers.has("Retry-After")) {
        // Browsers repeat a request whose connection broke, although a part of it has arrived.
        state = await send(settings, asking("HEAD", target));
        // The complete file was refused.
        if (isGone(state)) return reply;
      }
      const offset = isSuccess(state) ? offsetIn(state, size) : null;
      // Another request has interrupted this one, or deleted the upload: the next try begins with the state.
      if (offset === reached || isGone(state)) state = failedReply(target, "the upload was interrupted");
      if (offset === null || offset === reached) return { ...state, hasProgressed };
      reached = offset;
    }
  }

  return async () => {
    if (url === null) return begin();
    const head = await send(settings, asking("HEAD", url));
    // Expired, or refused by a reply that was lost.
    if (isGone(head)) return begin();
    if (!isSuccess(head)) return head;
    const pairs = head.headers.get("Upload-Metadata")?.split(",") ?? [];
    const isOfFile = pairs.includes(`filename ${base64(String(metadata.filename))}`);
    if (!isOfFile || head.headers.get("Upload-Length") !== String(size)) return begin();
    return sendFrom(url, offsetIn(head, size));
  };
}

function uploadAddress(baseUrl: string, uploadId: string): string {
  if (UPLOAD_ID.test(uploadId)) return `${baseUrl}/api/uploads/${uploadId}`;
  throw new TypeError("uploadId must be an upload ID: letters, digits, hyphens and underscores");
}

function isGone({ status }: Reply): boolean {
  return status === 404 || status === 410;
}

function isSuccess({ status }: Reply): boolean {
  return status >= 200 && status < 300;
}

function offsetIn(reply: Reply, size: number): number {
  const text = reply.headers.get("Upload-Offset") ?? "";
  if (/^\d+$/.test(text) && Number(text) <= size) return Number(text);
  throw unexpectedReply(reply);
}

/** UTF-8 in Base64. */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
