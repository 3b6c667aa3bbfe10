import { type ErrorCode, isServiceError, ServiceError, type ServiceErrorOptions } from "../errors.ts";

/** Why a look-up was rejected: the error IDs of the API. */
export type LookupProblemId =
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
  /** The contacts tell nothing about the person or the company. */
  | "not_found"
  /** The account's allowance of the month is used up. */
  | "too_many_requests"
  /** The address is suppressed. */
  | "claimed_email";

const CODE_OF: Partial<Record<LookupProblemId, ErrorCode>> = {
  not_found: "not_found",
  too_many_requests: "rate_limited",
  claimed_email: "withheld",
};

/**
 * A rejected look-up: a ServiceError with the code `bad_request`, `not_found`, `rate_limited` or `withheld`, and the API's
 * error ID as `id`.
 */
export class LookupProblem extends ServiceError {
  readonly id: LookupProblemId;

  constructor(id: LookupProblemId, message: string, options?: ServiceErrorOptions) {
    super(CODE_OF[id] ?? "bad_request", message, options);
    this.name = "LookupProblem";
    this.id = id;
  }
}

/** Whether `error` is a {@link LookupProblem}, with the given ID if one is passed. */
export function isLookupProblem(error: unknown, id?: LookupProblemId): error is LookupProblem {
  return isServiceError(error) && "id" in error && (id === undefined || error.id === id);
}

/** The problem for a suppressed address. */
export function claimed(): LookupProblem {
  return new LookupProblem("claimed_email", "The owner of this address opted out of the lookup");
}

/** The problem for a text that is not a domain. */
export function invalidDomain(): LookupProblem {
  return new LookupProblem("invalid_domain", "The domain is not valid");
}

/** The problem for a suppressed domain. */
export function claimedDomain(): LookupProblem {
  return new LookupProblem("invalid_domain", "The owner of this domain opted out of the lookup");
}
