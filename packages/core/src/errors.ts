/**
 * What went wrong, as a closed union. Switch on `code`, never on the message.
 *
 * - `bad_request`: the caller's input is wrong (400)
 * - `forbidden`: understood and refused (403)
 * - `not_found`: there is no such thing (404)
 * - `timeout`: the client stopped sending (408)
 * - `conflict`: a lost race, or the state does not allow it (409)
 * - `too_large`: over a byte limit (413)
 * - `unsupported_media`: not a type we take, or the bytes cannot be read as it (415)
 * - `not_implemented`: no renderer for this format is installed (501)
 * - `overloaded`: a queue is full (503, `retryAfterMs`)
 * - `store_unavailable`: a backend failed; `cause` holds the driver's error (503)
 * - `no_space`: a backend has no room left (507)
 * - `host_misuse`: the host app called or mounted us wrongly (500); the message says how to mend it
 */
export type ErrorCode =
  | "bad_request"
  | "forbidden"
  | "not_found"
  | "timeout"
  | "conflict"
  | "too_large"
  | "unsupported_media"
  | "not_implemented"
  | "overloaded"
  | "store_unavailable"
  | "no_space"
  | "host_misuse";

export interface ServiceErrorOptions {
  /** The error underneath, for logs. Never shown to a client. */
  cause?: unknown;
  /** How long the client should wait, in milliseconds. */
  retryAfterMs?: number;
}

/** Every expected failure. Its message is written for the client of the API. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "ServiceError";
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Whether `error` is a {@link ServiceError}, of the given code if one is named. */
export function isServiceError(error: unknown, code?: ErrorCode): error is ServiceError {
  return error instanceof ServiceError && (code === undefined || error.code === code);
}
