import type { HttpRequest, HttpStack, PreviousUpload } from "tus-js-client";
import type { ClientSettings } from "./client-options.ts";
import type { Reply } from "./reply.ts";
import { failedReply, type Sending, send } from "./request.ts";

/** A proxy that passes on only complete requests loses at most one part when a connection breaks. */
const PART_BYTES = 8 * 2 ** 20;
/** Lifetimes that differ by less are the same choice. */
const SAME_LIFETIME_MS = 60_000;

type OnBytes = (sentBytes: number) => void;

export interface ResumableFile {
  blob: Blob;
  metadata: Readonly<Record<string, string>>;
  /** Sends bytes once. Resolves and rejects as `send` does. */
  sendBytes(sending: Sending, bytes: Blob, onSent: OnBytes): Promise<Reply>;
  /** Sends the file in one request, to a service without resumable uploads. */
  sendWhole(): Promise<Reply>;
  /** Called with the bytes that the service has or gets. */
  onSent: OnBytes;
}

/** Ends a try with a reply that tus-js-client would answer with a new upload. */
class Broken extends Error {}

/** Sends the requests of tus-js-client as the client sends all others. */
class TusRequests implements HttpStack {
  readonly endpoint: string;
  /** The last reply. */
  last: Reply;
  /** Most bytes that the service has had. */
  accepted = 0;
  /** Whether the service has no resumable uploads. */
  isUnknown = false;
  readonly #settings: ClientSettings;
  readonly #create: Sending;
  readonly #sendBytes: ResumableFile["sendBytes"];

  constructor(settings: ClientSettings, create: Sending, sendBytes: ResumableFile["sendBytes"]) {
    this.endpoint = `${settings.baseUrl}/api/uploads`;
    this.last = failedReply(this.endpoint, "no request was sent");
    this.#settings = settings;
    this.#create = create;
    this.#sendBytes = sendBytes;
  }

  getName(): string {
    return "outrigger";
  }

  createRequest(method: string, url: string): HttpRequest {
    const headers: Record<string, string> = {};
    let onBytes: OnBytes = () => {};
    return {
      getMethod: () => method,
      getURL: () => url,
      setHeader(name, value) {
        headers[name] = value;
      },
      getHeader: (name) => headers[name],
      setProgressHandler(handler) {
        onBytes = handler;
      },
      send: async (body: Blob | null = null) => {
        const reply = await this.#send(this.#sending(method, url, headers), body, (sent) => onBytes(sent));
        return {
          getStatus: () => reply.status,
          getHeader: (name) => reply.headers.get(name) ?? undefined,
          getBody: () => reply.text,
          getUnderlyingObject: () => reply,
        };
      },
      // The signal of the call ends requests.
      abort: async () => {},
      getUnderlyingObject: () => null,
    };
  }

  /** The reply to a complete upload whose last reply was lost. */
  finish(url: string, size: number): Promise<Reply> {
    const headers = {
      "Tus-Resumable": "1.0.0",
      "Content-Type": "application/offset+octet-stream",
      "Upload-Offset": String(size),
    };
    return this.#sendBytes(this.#sending("PATCH", url, headers), new Blob([]), () => {});
  }

  #sending(method: string, url: string, headers: Readonly<Record<string, string>>): Sending {
    const { url: create, headers: common, signal, ...others } = this.#create;
    const [id = ""] = /[\w-]*$/.exec(new URL(url).pathname) ?? [];
    // Never another host, whatever the service says.
    const target = method === "POST" ? this.endpoint : `${this.endpoint}/${id}`;
    return {
      ...others,
      // The methods of tus.
      method: method as "POST" | "HEAD" | "PATCH" | "DELETE",
      url: target + new URL(create).search,
      headers: { ...common, ...headers },
      // A deletion follows an abort.
      signal: method === "DELETE" ? undefined : signal,
    };
  }

  async #send(sending: Sending, body: Blob | null, onBytes: OnBytes): Promise<Reply> {
    const { method, url } = sending;
    const reply = await (body === null
      ? send(this.#settings, sending)
      : this.#sendBytes(sending, body, onBytes));
    const { status, headers, text } = reply;
    const isGone = status === 404 || status === 410;
    // Another request has interrupted this one or deleted the upload, or a browser has repeated it.
    const isInterrupted = method === "PATCH" && (isGone || (status === 409 && /Upload-Offset/.test(text)));
    this.last = isInterrupted ? failedReply(url, "the upload was interrupted") : reply;
    if (this.last.failure !== undefined || (method === "HEAD" && status >= 400 && !isGone))
      throw new Broken();
    this.isUnknown = method === "POST" && (status === 404 || status === 405);
    if (status < 300) this.accepted = Math.max(this.accepted, Number(headers.get("Upload-Offset")));
    return reply;
  }
}

/**
 * The tries of an upload by tus 1.0, each from the last byte that the service has. They resolve like `send`, after the last byte
 * with the reply to a create. An aborted signal also deletes the part at the service. A browser remembers the upload of a
 * `File` until it ends, so that a later call continues it.
 * @param create Its query and its headers are sent with every request.
 */
export async function resumableTry(
  settings: ClientSettings,
  create: Sending,
  { blob, metadata, sendBytes, sendWhole, onSent }: ResumableFile,
): Promise<() => Promise<Reply>> {
  const { defaultOptions, Upload } = await import("tus-js-client");
  const { signal } = create;
  const requests = new TusRequests(settings, create, sendBytes);
  const isKept = blob instanceof File;
  let resolve: (reply: Reply | Promise<Reply>) => void;
  let reject: (error: unknown) => void;
  const upload = new Upload(blob, {
    endpoint: requests.endpoint,
    metadata,
    chunkSize: PART_BYTES,
    retryDelays: null,
    httpStack: requests,
    fileReader: { openFile: async () => sourceOf(blob) },
    fingerprint: async () =>
      isKept ? `outrigger ${requests.endpoint} ${blob.size} ${blob.lastModified} ${blob.name}` : "",
    storeFingerprintForResuming: isKept,
    removeFingerprintOnSuccess: true,
    onProgress: onSent,
    onSuccess() {
      resolve(requests.last.text === "" ? requests.finish(upload.url ?? "", blob.size) : requests.last);
    },
    onError(error) {
      const cause = "causingError" in error ? error.causingError : error;
      if (cause === null || cause instanceof Broken)
        resolve(requests.isUnknown ? sendWhole() : requests.last);
      // An error of a listener, or the reason of the signal.
      else reject(cause);
    },
  });
  for (const previous of isKept ? await upload.findPreviousUploads() : []) {
    if (isSameChoice(previous, metadata)) upload.resumeFromPreviousUpload(previous);
    else await defaultOptions.urlStorage.removeUpload(previous.urlStorageKey);
  }
  const onAbort = () => {
    reject(signal?.reason);
    // Without success it expires.
    upload.abort(true).catch(() => undefined);
  };
  return async () => {
    const before = requests.accepted;
    const trying = new Promise<Reply>((...settle) => {
      [resolve, reject] = settle;
      signal?.addEventListener("abort", onAbort);
      upload.start();
    });
    const reply = await trying.finally(() => signal?.removeEventListener("abort", onAbort));
    return { ...reply, hasProgressed: requests.accepted > before };
  };
}

/** The bytes as tus-js-client reads them. */
function sourceOf(blob: Blob) {
  const slice = async (start: number, end: number) => ({
    value: blob.slice(start, end),
    done: end >= blob.size,
  });
  return { size: blob.size, slice, close() {} };
}

/** Whether an earlier upload has the same details, and a lifetime of the same length that is not over. */
function isSameChoice(
  { metadata, creationTime }: PreviousUpload,
  wanted: ResumableFile["metadata"],
): boolean {
  const { expiresAt: end = "", ...others } = metadata;
  const { expiresAt: wantedEnd = "", ...wantedOthers } = wanted;
  if (JSON.stringify(others) !== JSON.stringify(wantedOthers)) return false;
  const lifetimeMs = Date.parse(end) - Date.parse(creationTime);
  const wantedMs = Date.parse(wantedEnd) - Date.now();
  const isOver = Date.parse(end) <= Date.now();
  return end === wantedEnd || (!isOver && Math.abs(wantedMs - lifetimeMs) < SAME_LIFETIME_MS);
}
