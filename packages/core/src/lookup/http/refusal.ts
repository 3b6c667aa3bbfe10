import type { Reply } from "../../contracts/call.ts";
import { isServiceError } from "../../errors.ts";
import { isLookupProblem, type LookupProblemId } from "../lookup-problem.ts";

const STATUS_OF = {
  wrong_params: 400,
  invalid_type: 400,
  invalid_seniority: 400,
  invalid_department: 400,
  pagination_error: 400,
  invalid_domain: 400,
  invalid_first_name: 400,
  invalid_last_name: 400,
  invalid_full_name: 400,
  invalid_email: 400,
  invalid_max_duration: 400,
  authentication_failed: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  too_many_requests: 429,
  rate_limited: 429,
  claimed_email: 451,
  unavailable: 503,
  internal_error: 500,
  not_implemented: 501,
} satisfies Record<LookupProblemId, number> & Record<string, number>;

/** The error IDs of the API. */
export type LookupErrorId = keyof typeof STATUS_OF;

// The keys of `STATUS_OF`.
export const LOOKUP_ERRORS = Object.keys(STATUS_OF) as LookupErrorId[];

/** The reply to a rejected request. */
export interface Refusal {
  id: LookupErrorId;
  /** The text for the client. */
  message: string;
  headers: Readonly<Record<string, string>>;
}

/** A refusal for HTTP reasons, thrown so that it becomes the reply. */
export class RefusedRequest extends Error implements Refusal {
  readonly id: LookupErrorId;
  readonly headers: Readonly<Record<string, string>>;

  constructor(id: LookupErrorId, details: string, headers: Readonly<Record<string, string>> = {}) {
    super(details);
    this.name = "RefusedRequest";
    this.id = id;
    this.headers = headers;
  }
}

export const CLOSING: Refusal = {
  id: "unavailable",
  message: "The service is shutting down. Try again later.",
  headers: { "Retry-After": "2", Connection: "close" },
};

export const DEPARTED: Refusal = {
  id: "wrong_params",
  message: "The client disconnected before the reply",
  headers: {},
};

export const UNEXPECTED: Refusal = {
  id: "internal_error",
  message: "An unexpected error occurred. Try again later.",
  headers: {},
};

const DEFAULT_RETRY_AFTER_MS = 2000;

/** The refusal for a failure; `null` for an unexpected failure. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof RefusedRequest) return error;
  if (isLookupProblem(error)) {
    const { id, message, retryAfterMs } = error;
    return { id, message, headers: retryAfterMs === undefined ? {} : retryAfter(retryAfterMs) };
  }
  if (!isServiceError(error)) return null;
  const isBusy = error.code === "overloaded";
  return {
    id: "unavailable",
    message: isBusy ? error.message : "The data is unavailable at the moment. Try again later.",
    headers: retryAfter(error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS),
  };
}

/** The header `Retry-After`, in whole seconds. */
export function retryAfter(waitMs: number): Record<string, string> {
  return { "Retry-After": String(Math.max(1, Math.ceil(waitMs / 1000))) };
}

/** `{"errors": [{"id", "code", "details"}]}` */
export function refusalReply({ id, message, headers }: Refusal, isHead: boolean): Reply {
  const code = STATUS_OF[id];
  const reply = jsonReply(code, { errors: [{ id, code, details: message }] }, headers);
  return isHead ? { status: reply.status, headers: reply.headers } : reply;
}

/**
 * The reply to a HEAD request with a valid key and valid parameters. The length of the GET response is
 * unknown.
 */
export function headReply(): Reply {
  return { status: 200, headers: { ...HEADERS } };
}

/** Every reply concerns one account, so no cache may store it. */
export const HEADERS = {
  "Content-Type": "application/json; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
};

export function jsonReply(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const body = JSON.stringify(value);
  const all = { ...HEADERS, "Content-Length": String(Buffer.byteLength(body)), ...headers };
  return { status, headers: all, body };
}
