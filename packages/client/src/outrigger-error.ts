/** One of the lookup's errors, as it is on the wire. */
export interface LookupFault {
  /** What it is called, e.g. `"invalid_domain"`. */
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
  retryAfterMs?: number | null;
  errors?: readonly LookupFault[];
  cause?: unknown;
}

/**
 * What was refused, or could not be asked. Its message is the `detail`: one line of text, without PIN and key. What the caller
 * aborts is none of these: it rejects with the reason of the signal.
 */
export class OutriggerError extends Error {
  /** Of HTTP. 0: there was no reply, or only a part of one. */
  readonly status: number;
  /** The kind: of a problem its title, of the lookup the `id` of its first error, e.g. `"Gone"` or `"invalid_domain"`. */
  readonly title: string;
  /** What the service said about it. */
  readonly detail: string;
  /** When it is worth asking again, in milliseconds from the reply; `null` where nothing is said about it. */
  readonly retryAfterMs: number | null;
  /** All that the lookup said; absent where it was not the lookup that refused. */
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
