import type { Reply } from "../../contracts/call.ts";

/** What the API calls its errors. */
export type LookupErrorId =
  | "wrong_params"
  | "invalid_type"
  | "invalid_seniority"
  | "invalid_department"
  | "pagination_error"
  | "invalid_domain"
  | "invalid_first_name"
  | "invalid_last_name"
  | "invalid_full_name"
  | "invalid_email"
  | "invalid_max_duration"
  | "authentication_failed"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "too_many_requests"
  | "rate_limited"
  | "claimed_email"
  | "unavailable"
  | "internal_error";

const STATUS_OF: Record<LookupErrorId, number> = {
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
};

export const LOOKUP_ERRORS = Object.keys(STATUS_OF) as LookupErrorId[]; // The keys of a Record<LookupErrorId, …>.

/** A refusal, on its way to becoming a reply. Its message is written for the client. */
export class LookupProblem extends Error {
  readonly id: LookupErrorId;
  readonly headers: Readonly<Record<string, string>>;

  constructor(id: LookupErrorId, details: string, headers: Readonly<Record<string, string>> = {}) {
    super(details);
    this.name = "LookupProblem";
    this.id = id;
    this.headers = headers;
  }
}

/** Of a person who is suppressed. */
export function claimed(): LookupProblem {
  return new LookupProblem("claimed_email", "The owner of this address asked that nothing be told of it");
}

/** Of a domain that is suppressed. */
export function claimedDomain(): LookupProblem {
  return new LookupProblem("invalid_domain", "The owner of this domain asked that nothing be told of it");
}

/** `{"errors": [{"id", "code", "details"}]}` */
export function problemReply({ id, message, headers }: LookupProblem, isHead: boolean): Reply {
  const code = STATUS_OF[id];
  return jsonReply(code, { errors: [{ id, code, details: message }] }, isHead, headers);
}

/** A HEAD whose key and parameters are right. How long the answer to GET would be is not known. */
export function headReply(): Reply {
  return { status: 200, headers: { ...HEADERS } };
}

/** What is said is about one account: no cache keeps it. */
const HEADERS = {
  "Content-Type": "application/json; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
};

export function jsonReply(
  status: number,
  value: unknown,
  isHead: boolean,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const body = JSON.stringify(value);
  const all = { ...HEADERS, "Content-Length": String(Buffer.byteLength(body)), ...headers };
  return isHead ? { status, headers: all } : { status, headers: all, body };
}
