import { setTimeout as delay } from "node:timers/promises";
import { abortable } from "../../async/abortable.ts";
import type { RateLimiter, RateRule } from "../../contracts/rate-limiter.ts";
import { CLOSING, RefusedRequest, retryAfter } from "./refusal.ts";

const SECOND_MS = 1000;
/** How many windows a request over the rate waits for its turn. */
const MAX_WINDOWS = 2;
/** The windows, and the delay of timers. */
const MAX_WAIT_MS = MAX_WINDOWS * SECOND_MS + 100;
const MAX_WAITING = 30;

/** The requests of one key that wait. */
interface Line {
  waiting: number;
  /** Settles when the last of them has had its turn. Never rejects. */
  last: Promise<void>;
}

/**
 * Lets requests pass at their rate. A request over the rate waits for its turn, in order of arrival, so a client that sends one
 * request after the other is slowed down and never refused. Processes that share a limiter have a line each.
 */
export class RequestTurns {
  readonly #limiter: RateLimiter;
  readonly #rule: RateRule;
  readonly #maxWaiting: number;
  /** Of each waiting request: a signal for all would keep what `AbortSignal.any` derives from it. */
  readonly #waiting = new Set<AbortController>();
  #isClosed = false;
  readonly #lines = new Map<string, Line>();

  /** @param limit requests per second and key. */
  constructor(limiter: RateLimiter, limit: number) {
    this.#limiter = limiter;
    this.#rule = { limit, windowMs: SECOND_MS };
    // Of more than these, the last would wait too long.
    this.#maxWaiting = Math.min(MAX_WAITING, limit * MAX_WINDOWS);
  }

  /**
   * Resolves when a request may pass. Rejects with `rate_limited` if it would wait too long, with `unavailable` when the service
   * closes, and with the signal's reason.
   * @param mayWait Whether a request over the rate waits.
   */
  async take(key: string, mayWait: boolean, signal: AbortSignal): Promise<void> {
    if (!this.#lines.has(key)) {
      const { allowed, resetMs } = await this.#limiter.consume(key, this.#rule);
      if (allowed) return;
      if (!mayWait) throw this.#refusal(resetMs);
    }
    const line = this.#lines.get(key) ?? { waiting: 0, last: Promise.resolve() };
    if (line.waiting >= this.#maxWaiting) throw this.#refusal(SECOND_MS);
    this.#lines.set(key, line);
    line.waiting++;
    const leaving = new AbortController();
    const leave = () => leaving.abort(signal.reason);
    this.#waiting.add(leaving);
    signal.addEventListener("abort", leave);
    if (signal.aborted) leave();
    if (this.#isClosed) leaving.abort(closed());
    const left = leaving.signal;
    const until = performance.now() + MAX_WAIT_MS;
    const turn = line.last.then(() => this.#turn(key, until, left));
    // The request itself receives the failure.
    line.last = turn.catch(() => undefined);
    try {
      await abortable(turn, left);
    } finally {
      this.#waiting.delete(leaving);
      signal.removeEventListener("abort", leave);
      line.waiting--;
      if (line.waiting === 0) this.#lines.delete(key);
    }
  }

  /** Refuses the requests that wait. */
  close(): void {
    this.#isClosed = true;
    for (const leaving of this.#waiting) leaving.abort(closed());
  }

  /** @param until by `performance.now()`. */
  async #turn(key: string, until: number, left: AbortSignal): Promise<void> {
    for (;;) {
      left.throwIfAborted();
      const { allowed, resetMs } = await this.#limiter.consume(key, this.#rule);
      if (allowed) return;
      // Other processes may have used the rate.
      if (performance.now() + resetMs > until) throw this.#refusal(resetMs);
      // `delay` rejects with an error of its own.
      await delay(Math.max(1, resetMs), undefined, { signal: left }).catch(() => left.throwIfAborted());
    }
  }

  #refusal(waitMs: number): RefusedRequest {
    return new RefusedRequest(
      "rate_limited",
      `At most ${this.#rule.limit} requests a second`,
      retryAfter(waitMs),
    );
  }
}

function closed(): RefusedRequest {
  return new RefusedRequest(CLOSING.id, CLOSING.message, CLOSING.headers);
}
