import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";

/** A file part of a multipart body, spooled to disk. */
export interface SpooledFile {
  /** Where the bytes are, until `dispose`. */
  path: string;
  /** In bytes. */
  size: number;
  /** The client's file name, decoded as UTF-8. Untrusted: metadata only, never a path. */
  name: string;
  /** The part's declared Content-Type without parameters, lower case. */
  declaredType: string;
  /** The first bytes, at most 64 KiB: enough to tell the type. */
  head: Buffer;
  /** SHA-256 of the bytes, hex. */
  sha256: string;
  /** Removes the file if it is still there. Never rejects. */
  dispose(): Promise<void>;
}

/** The turn of an upload among others: how many are read at once is bounded. */
export interface UploadTurn {
  /**
   * Resolves when the upload may be read. Rejects with `overloaded` when that took too long, or with the signal's reason.
   */
  wait(signal: AbortSignal): Promise<void>;
  /**
   * Counts bytes that have come, before they are looked at.
   * @returns `false` when the turn is over: then they and all further ones wait, until `wait` resolves again.
   */
  mayRead(bytes: number): boolean;
  /** Lets others have their turn. Calling it twice is allowed. */
  end(): void;
}

export interface UploadLimits {
  /** Name of the one file part; another file part is `bad_request`. */
  fileField: string;
  maxFileBytes: number;
  /** At most this many text fields. */
  maxFields: number;
  /** Each at most this many bytes. */
  maxFieldBytes: number;
  /** No byte for this long: `timeout`. */
  idleMs: number;
  /**
   * A body slower than this is `timeout`: bytes per second on average over the whole body, looked at from 30 s after its
   * first byte on. Time in which we keep the client waiting does not count. 0 switches it off.
   */
  minBytesPerSecond: number;
  /** Waited for before the body is read, not before it is refused by its head. The caller ends it. Absent: read at once. */
  turn?: UploadTurn;
  /** Existing directory for the spooled file. Absent: one of this process below the system's temporary directory. */
  spoolDirectory?: string;
}

export interface Upload {
  file: SpooledFile;
  /** Text fields by name, decoded as UTF-8; the last of a repeated name. No prototype. */
  fields: Readonly<Record<string, string>>;
}

/**
 * A request as the services see it: what an adapter makes of its framework's own. Getters may compute on first use.
 */
export interface Call {
  /** Upper case. */
  readonly method: string;
  /** Path below the mount point, percent-encoded, beginning with `/`, without the query. */
  readonly path: string;
  /** The query as it came, without `?`; empty when there is none. */
  readonly search: string;
  /** Lower-case names. */
  readonly headers: IncomingHttpHeaders;
  /** The mount point's path without a trailing slash; empty at the root. */
  readonly mountPath: string;
  /** `https://host:port` as the host framework's proxy settings see it. Empty when the request had no Host. */
  readonly origin: string;
  /** Whether the request arrived over TLS, as the host framework sees it. */
  readonly secure: boolean;
  /** The client's address, as the host framework sees it. */
  readonly clientIp: string;
  /** The address at the other end of the socket. */
  readonly peerIp: string;
  /** Aborts when the client leaves before there was a reply; never afterwards. */
  readonly signal: AbortSignal;
  /** The framework's own request or context, for the host's hooks (`req.user`, `ctx.state`). */
  readonly context: unknown;
  /**
   * Receives a multipart/form-data body with exactly one file.
   * Rejects with `unsupported_media` (another media type), `bad_request` (malformed, no file, two files, over a field
   * limit, invalid UTF-8), `too_large`, `timeout`, `host_misuse` (the host's own parser ate the body), `no_space`, or the
   * signal's reason when the client left. After a rejection nothing is left on disk.
   */
  upload(limits: UploadLimits): Promise<Upload>;
  /**
   * The body as named values: a JSON object (values as they are) or an urlencoded form (strings). `null` when there is
   * no body. A body that the host has already parsed is used. Rejects with `bad_request` (malformed, not an object,
   * invalid UTF-8), `unsupported_media` (neither of the two), `too_large`, `timeout` (also for less than 1 KiB/s on average
   * after 30 s), `host_misuse`.
   */
  fields(limits: { maxBytes: number; idleMs: number }): Promise<Readonly<Record<string, unknown>> | null>;
}

/** What an adapter sends. A body that is a stream is read to its end or destroyed. */
export interface Reply {
  status: number;
  /** In any case; a list is sent as repeated lines. A reply with a body has its `Content-Length` here where it is known. */
  headers: Readonly<Record<string, string | string[]>>;
  /** Absent: no body. Never present in reply to HEAD. */
  body?: string | Uint8Array | Readable;
}

/**
 * Something to mount. `handle` resolves to `undefined` for a request that is not its own (the adapter calls the host's
 * `next()`), and rejects only where a failure is meant for the host's error handling.
 */
export interface Service {
  handle(call: Call): Promise<Reply | undefined>;
}
