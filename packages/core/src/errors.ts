/**
 * What went wrong, as a closed union. Switch on `code`, never on the message.
 *
 * - `bad_request`: the caller's input is wrong (400)
 * - `forbidden`: understood and refused (403)
 * - `not_found`: there is no such thing (404)
 * - `gone`: the image expired or was deleted (410)
 * - `withheld`: the image is blocked for legal reasons (451)
 * - `processing`: the image is accepted and cannot be read yet (202, `retryAfterMs`)
 * - `timeout`: the client stopped sending (408)
 * - `conflict`: a lost race, or the state does not allow it (409; `retryAfterMs` where it soon may)
 * - `too_large`: over a byte limit (413)
 * - `unsupported_media`: not a type we take, or the bytes cannot be read as it (415)
 * - `too_costly`: reading or rendering it takes more CPU time or memory than one picture may (415)
 * - `rate_limited`: this client asked for too much (429, `retryAfterMs`)
 * - `not_implemented`: no renderer for this format is installed (501)
 * - `overloaded`: a queue is full (503, `retryAfterMs`)
 * - `store_unavailable`: a backend failed; `cause` holds the driver's error (503)
 * - `no_space`: a backend has no room left (507)
 * - `damaged`: what is stored cannot be read as what it should be; the message names it (500)
 * - `host_misuse`: the host app called or mounted the service wrongly (500); the message says what to change
 */
export type ErrorCode =
  | "bad_request"
  | "forbidden"
  | "not_found"
  | "gone"
  | "withheld"
  | "processing"
  | "timeout"
  | "conflict"
  | "too_large"
  | "unsupported_media"
  | "too_costly"
  | "rate_limited"
  | "not_implemented"
  | "overloaded"
  | "store_unavailable"
  | "no_space"
  | "damaged"
  | "host_misuse";

export interface ServiceErrorOptions {
  /** The error underneath, for logs. Never shown to a client. */
  cause?: unknown;
  /** How long the client should wait, in milliseconds. */
  retryAfterMs?: number;
  /** Of `withheld`: URL of the authority that demands the block. */
  authority?: string;
}

/** Marks a {@link ServiceError} across realms and across several copies of this package in one process. */
const BRAND: unique symbol = Symbol.for("@outrigger/ServiceError");

/** Every expected failure. Its message is written for the client of the API. */
export class ServiceError extends Error {
  readonly [BRAND] = true;
  readonly code: ErrorCode;
  readonly retryAfterMs: number | undefined;
  readonly authority: string | undefined;

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "ServiceError";
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.authority = options.authority;
  }
}

/**
 * Whether something thrown is an error, of whatever realm: Node's own errors are no `instanceof Error` within Jest or
 * `node:vm`.
 */
export function isError(error: unknown): error is Error {
  return (
    typeof error === "object" && error !== null && "message" in error && typeof error.message === "string"
  );
}

/** The code of a system call or driver that failed, such as `ENOENT`, or `undefined` for any other error. */
export function systemCode(error: unknown): string | undefined {
  return isError(error) && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Whether `error` is a {@link ServiceError}, of the given code if one is named. */
export function isServiceError(error: unknown, code?: ErrorCode): error is ServiceError {
  if (typeof error !== "object" || error === null || !(BRAND in error)) return false;
  return code === undefined || (error as ServiceError).code === code; // Branded, so it is one.
}
