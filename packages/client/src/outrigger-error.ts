/** An error of the lookup, as on the wire. */
export interface LookupFault {
  /** Kind of the error, e.g. `"invalid_domain"`. */
  id: string;
  /** The HTTP status. */
  code: number;
  details: string;
}

export interface OutriggerErrorOptions {
  status: number;
  title: string;
  detail: string;
  /** @default null */
  retryAfterMs?: number | null | undefined;
  errors?: readonly LookupFault[] | undefined;
  cause?: unknown | undefined;
}

/**
 * A request that was refused or failed. Its message is the `detail`: one line of text, without PIN and key. An aborted call
 * rejects with the reason of the signal instead.
 */
export class OutriggerError extends Error {
  /** HTTP status; 0 without a complete reply. */
  readonly status: number;
  /** Kind of the error: the title of a problem, e.g. `"Gone"`, or the `id` of the first lookup error, e.g. `"invalid_domain"`. */
  readonly title: string;
  /** Explanation from the service. */
  readonly detail: string;
  /** Milliseconds from the reply until a retry makes sense; `null` if the reply does not say. */
  readonly retryAfterMs: number | null;
  /** All errors of a lookup reply; absent for any other failure. */
  readonly errors?: readonly LookupFault[];

  constructor({ status, title, detail, retryAfterMs = null, errors, cause }: OutriggerErrorOptions) {
    super(detail, cause === undefined ? {} : { cause });
    this.name = "OutriggerError";
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
    if (errors !== undefined) this.errors = errors;
  }
}
