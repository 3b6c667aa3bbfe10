import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";

/** The file part of a multipart body, spooled to disk. */
export interface SpooledFile {
  /** Path of the spooled bytes, valid until `dispose`. */
  path: string;
  /** In bytes. */
  size: number;
  /** The client's file name, decoded as UTF-8. Untrusted: metadata only, never a path. */
  name: string;
  /** The part's declared Content-Type without parameters, lower case; empty for a part without one. */
  declaredType: string;
  /** The first bytes, at most 64 KiB: enough to detect the type. */
  head: Buffer;
  /** SHA-256 of the bytes, hex. */
  sha256: string;
  /** Deletes the file if it still exists. Never rejects. */
  dispose(): Promise<void>;
}

/** A slot for reading an upload: the number of uploads read at once is bounded. */
export interface UploadSlot {
  /**
   * Resolves when the upload may be read. Rejects with `overloaded` if the wait is too long, or with the
   * signal's reason.
   */
  wait(signal: AbortSignal): Promise<void>;
  /**
   * Counts received bytes before they are processed.
   * @returns `false` when the slot is used up: the caller calls `wait` again before it processes these or
   * further bytes.
   */
  mayRead(bytes: number): boolean;
  /** Frees the slot for other uploads. Calling it twice is allowed. */
  end(): void;
}

export interface UploadLimits {
  /**
   * Names of parts that may be the file. A file in another part, and a second file, are rejected with `bad_request`. Text
   * fields of these names, and parts with an empty file name, are ignored.
   */
  fileFields: readonly string[] | "any";
  maxFileBytes: number;
  /** Called with the declared type of the file before its bytes are received. The upload rejects with what it throws. */
  checkType?: (declaredType: string) => void;
  /** At most this many text fields. */
  maxFields: number;
  /** Each at most this many bytes. */
  maxFieldBytes: number;
  /** Milliseconds without a byte after which the upload is rejected with `timeout`. */
  idleMs: number;
  /**
   * Minimum speed in bytes per second, averaged over the whole body and checked from 30 s after its first
   * byte. A slower body is rejected with `timeout`. Time in which the server keeps the client waiting does
   * not count. 0 disables the check.
   */
  minBytesPerSecond: number;
  /**
   * Awaited before the body is read, but after the checks of the request's head. The caller ends it. Absent:
   * the body is read at once.
   */
  slot?: UploadSlot;
  /**
   * Existing directory for the spooled file. Absent: this process's directory below the system's temporary
   * directory.
   */
  spoolDirectory?: string;
}

export interface BodyLimits {
  maxBytes: number;
  /** Milliseconds without a byte after which the body is rejected with `timeout`. */
  idleMs: number;
}

/** Limits of a body that is passed on as bytes; `minBytesPerSecond` and `slot` as in {@link UploadLimits}. */
export interface BytesLimits extends BodyLimits, Pick<UploadLimits, "minBytesPerSecond" | "slot"> {}

export interface Upload {
  file: SpooledFile;
  /**
   * Text fields by name, decoded as UTF-8; of a repeated name, the last value. The object has no prototype.
   */
  fields: Readonly<Record<string, string>>;
}

/**
 * A request as the services see it. An adapter builds it from its framework's request. Getters may compute on
 * first use.
 * @typeParam Context The framework's own request or context. A host names it where it reads it: `Call<Request>`.
 */
// biome-ignore lint/suspicious/noExplicitAny: only the host knows what its framework and middleware put there.
export interface Call<Context = any> {
  /** Upper case. */
  readonly method: string;
  /** Path below the mount point, percent-encoded, beginning with `/`, without the query. */
  readonly path: string;
  /** The query as received, without `?`; empty if there is none. */
  readonly search: string;
  /**
   * Lower-case names. `host` is the host of the request target where that names one, else the header `Host`. Several
   * `Host` lines are joined by `, `.
   */
  readonly headers: IncomingHttpHeaders;
  /** The mount point's path without a trailing slash; empty at the root. */
  readonly mountPath: string;
  /** `https://host:port` as the host framework's proxy settings see it. Empty without a valid host, or with several. */
  readonly origin: string;
  /** Whether the request arrived over TLS, as the host framework sees it. */
  readonly secure: boolean;
  /** The client's address, as the host framework sees it. */
  readonly clientIp: string;
  /** The address of the socket's peer. */
  readonly peerIp: string;
  /** Aborts when the client disconnects before the reply; never afterwards. */
  readonly signal: AbortSignal;
  /**
   * Set by the image service before it asks `authorize` about a read: the host has signed this address with `read: true`, and its
   * `until` has not passed.
   */
  signed?: boolean;
  /** The framework's own request or context, for the host's hooks (`req.user`, `ctx.state`). */
  readonly context: Context;
  /**
   * Receives a multipart/form-data body with exactly one file.
   * Rejects with `unsupported_media` (another media type), `bad_request` (malformed, no file, two files, over a field
   * limit, invalid UTF-8), `too_large`, `timeout`, `host_misuse` (a body parser of the host consumed the
   * body), `no_space`, or the signal's reason if the client disconnected. After a rejection no spooled file
   * remains on disk.
   */
  upload(limits: UploadLimits): Promise<Upload>;
  /**
   * The body as named values: a JSON object (values unchanged) or an urlencoded form (strings). `null` if
   * there is no body. A body that the host has already parsed is used. Rejects with `bad_request` (malformed,
   * not an object, invalid UTF-8), `unsupported_media` (any other media type), `too_large`, `timeout` (also
   * below 1 KiB/s on average after 30 s) or `host_misuse`.
   */
  fields(limits: BodyLimits): Promise<Readonly<Record<string, unknown>> | null>;
  /**
   * Passes the body as bytes to `take`, whatever its media type, in pieces as they arrive; the next piece waits for `take`. Rejects
   * with `unsupported_media` (a Content-Encoding), `too_large`, `timeout`, `host_misuse`, with what `take` or the slot rejects
   * with, or the signal's reason if the client disconnected.
   */
  bytes(limits: BytesLimits, take: (chunk: Uint8Array) => Promise<void>): Promise<void>;
}

/** The response that an adapter sends. It reads a stream body to its end or destroys it. */
export interface Reply {
  status: number;
  /**
   * Header names in any case; a list is sent as repeated lines. A reply with a body of known length has its
   * `Content-Length` here.
   */
  headers: Readonly<Record<string, string | string[]>>;
  /** Absent: no body. Never present in a reply to HEAD. */
  body?: string | Uint8Array | Readable;
}

/** A reply without a stream, in the form that `writeHead` takes fastest. */
export interface ReadyReply {
  status: number;
  /** Names and values in turn. A reply with a body has its `Content-Length` here. */
  headers: readonly string[];
  /** Absent: no body. */
  body?: Uint8Array;
}

/**
 * A mountable service. `handle` resolves to `undefined` for a request outside its routes; the adapter then
 * calls the host's `next()`. It rejects only if the host's error handling should receive the failure.
 */
export interface Service {
  handle(call: Call): Promise<Reply | undefined>;
  /**
   * The reply that {@link handle} would give, where it is at hand, e.g. a picture in memory; only for a GET or HEAD without a
   * body. Does not read `call.signal`. `undefined`: `handle` decides, and must get the same call.
   * @param inFront The host's middleware has not seen the request: `undefined` also where the host decides. @default false
   */
  answerNow?(call: Call, inFront?: boolean): ReadyReply | undefined;
}
