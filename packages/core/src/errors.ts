/**
 * Why a call failed, as a closed union. Switch on `code`, never on the message.
 *
 * - `bad_request`: the input of the caller is invalid (400)
 * - `forbidden`: the request was understood and refused (403)
 * - `not_found`: the resource does not exist (404)
 * - `gone`: the image expired or was deleted (410)
 * - `withheld`: the image is blocked for legal reasons (451)
 * - `processing`: the image is accepted and cannot be read yet (202, `retryAfterMs`)
 * - `timeout`: the client stopped sending (408)
 * - `conflict`: a lost race, or the current state does not allow the call (409; `retryAfterMs` if a retry may succeed
 *   soon)
 * - `too_large`: over a byte limit (413)
 * - `unsupported_media`: the type is not accepted, or the bytes cannot be read as that type (415)
 * - `too_costly`: reading or rendering the picture exceeds the CPU time or memory allowed for one picture (415)
 * - `rate_limited`: the client exceeded a rate limit (429, `retryAfterMs`)
 * - `not_implemented`: no renderer for this format is installed (501)
 * - `overloaded`: a queue is full (503, `retryAfterMs`)
 * - `store_unavailable`: a backend failed; `cause` holds the error of its driver (503)
 * - `no_space`: a backend is full (507)
 * - `damaged`: stored data is unreadable; the message names it (500)
 * - `host_misuse`: the host app called or mounted the service wrongly; the message says what to change (500)
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
  /** The underlying error, for logs. Never shown to a client. */
  cause?: unknown | undefined;
  /** How long the client should wait, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** For `withheld`: URL of the authority that demands the block. */
  authority?: string | undefined;
  /** For `forbidden`: why, as `code` of the problem that a client gets. */
  reason?: "ticket_expired" | "ticket_invalid" | undefined;
}

/** Marks a {@link ServiceError} across realms and across copies of this package in one process. */
const BRAND: unique symbol = Symbol.for("@outrigger/ServiceError");

/** An expected failure. Its message is written for clients of the API. */
export class ServiceError extends Error {
  readonly [BRAND] = true;
  readonly code: ErrorCode;
  readonly retryAfterMs: number | undefined;
  readonly authority: string | undefined;
  readonly reason: ServiceErrorOptions["reason"];

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "ServiceError";
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.authority = options.authority;
    this.reason = options.reason;
  }
}

/**
 * Whether a thrown value is an error of any realm. Node's own errors fail `instanceof Error` within Jest and
 * `node:vm`.
 */
export function isError(error: unknown): error is Error {
  return (
    typeof error === "object" && error !== null && "message" in error && typeof error.message === "string"
  );
}

/** The code of a failed system call or driver, such as `ENOENT`. `undefined` for any other error. */
export function systemCode(error: unknown): string | undefined {
  return isError(error) && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/**
 * Why this user may not use a file or directory, with the remedy, as a clause without a full stop. Also for the cause of an error.
 * `undefined`: any other error.
 */
export function accessReason(error: unknown): string | undefined {
  if (!isError(error)) return undefined;
  const { code, path } = error as NodeJS.ErrnoException;
  if (code !== "EACCES" || path === undefined) return accessReason(error.cause);
  return `this user has no access to ${path}; as root, chown -R ${process.geteuid?.()} ${path} gives it`;
}

/** Whether `error` is a {@link ServiceError}, and has the code if one is given. */
export function isServiceError(error: unknown, code?: ErrorCode): error is ServiceError {
  if (typeof error !== "object" || error === null || !(BRAND in error)) return false;
  return code === undefined || (error as ServiceError).code === code; // The brand proves the type.
}

/** A handler of rejections: `value` in place of an error with this code. It throws any other error. */
export function onCode<const T>(code: ErrorCode, value: T): (error: unknown) => T {
  return (error) => {
    if (isServiceError(error, code)) return value;
    throw error;
  };
}
