import { STATUS_CODES } from "node:http";
import type { Reply } from "../contracts/call.ts";
import { type ErrorCode, isServiceError, type ServiceError } from "../errors.ts";

/** A refusal that is to become a reply. */
export interface Problem {
  status: number;
  /** The text for the client. */
  detail: string;
  /** The kind of refusal, where the status alone does not tell. */
  code?: string | undefined;
  headers?: Record<string, string | string[]>;
}

const STATUS_OF: Record<ErrorCode, number> = {
  bad_request: 400,
  forbidden: 403,
  not_found: 404,
  gone: 410,
  withheld: 451,
  processing: 202,
  timeout: 408,
  conflict: 409,
  too_large: 413,
  unsupported_media: 415,
  too_costly: 415,
  rate_limited: 429,
  not_implemented: 501,
  overloaded: 503,
  store_unavailable: 503,
  no_space: 507,
  damaged: 500,
  host_misuse: 500,
};

/** Text that replaces a backend's message, which may reveal internals, and tells the client what to do. */
const PUBLIC_DETAIL: Partial<Record<ErrorCode, string>> = {
  store_unavailable: "The storage does not answer at the moment. Try again later.",
  no_space: "The storage has no room left.",
  damaged: "The stored data of this image is damaged. The operator was notified.",
};

const DEFAULT_RETRY_AFTER_MS = 2_000;

/** The problem that the client receives for an expected error. */
export function problemOf(error: ServiceError): Problem {
  const status = STATUS_OF[error.code];
  const headers: Record<string, string> = {};
  if (status === 503 || status === 429 || error.retryAfterMs !== undefined) {
    const waitMs = error.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS;
    headers["Retry-After"] = String(Math.max(1, Math.ceil(waitMs / 1000)));
  }
  // RFC 7725 §4.
  if (error.authority !== undefined) headers.Link = `<${error.authority}>; rel="blocked-by"`;
  // The rest of the body stays unread.
  if (error.code === "too_large") headers.Connection = "close";
  return {
    status,
    detail: PUBLIC_DETAIL[error.code] ?? error.message,
    code: error.reason,
    headers,
  };
}

/** The status with which the API would answer an error; 500 for one that is no {@link ServiceError}. */
export function statusOf(error: unknown): number {
  return isServiceError(error) ? problemOf(error).status : 500;
}

/** The status name of RFC 9110; from this project's own list if Node's table has an older name. */
export function statusTitle(status: number): string {
  return STATUS_CODES[status] ?? "Error";
}

/** `application/problem+json` (RFC 9457), or one line of text. Never stored by a cache. */
export function problemReply(problem: Problem, instance: string, asText = false): Reply {
  const title = statusTitle(problem.status);
  const body = asText
    ? `${problem.status} ${title}: ${problem.detail}\n`
    : JSON.stringify({
        type: "about:blank",
        title,
        status: problem.status,
        detail: problem.detail,
        code: problem.code,
        instance,
      });
  return {
    status: problem.status,
    headers: {
      "Content-Type": asText ? "text/plain; charset=utf-8" : "application/problem+json; charset=utf-8",
      "Content-Length": String(Buffer.byteLength(body)),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      ...problem.headers,
    },
    body,
  };
}

/** A refusal without a ServiceError code: expired resources, preconditions, limits. */
export class HttpProblem extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "HttpProblem";
    this.problem = problem;
  }
}
