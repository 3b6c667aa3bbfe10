import { checkValue } from "../../check-options.ts";
import type { RateLimiter, RateResult, RateRule } from "../../contracts/rate-limiter.ts";
import { ServiceError } from "../../errors.ts";
import { whole } from "../../option-rules.ts";

/** Maximum number of keys per rule. Beyond it, the oldest windows and the least recently used buckets are dropped. */
const MAX_KEYS = 100_000;
/** Longest window, the same as of a Node timer: 24.8 days. */
const MAX_WINDOW_MS = 2 ** 31 - 1;
const COUNT = whole(1);
const WINDOW = whole(1, MAX_WINDOW_MS);

/** A limiter in memory, which also answers at once. */
export type MemoryRateLimiter = RateLimiter & Required<Pick<RateLimiter, "consumeNow">>;

/**
 * A limiter within this process: each process of an app counts separately. It counts synchronously and needs no timers.
 *
 * Rejects with a `TypeError` if a limit, a burst or a cost is not an integer of at least 1, or a window is not an
 * integer from 1 to 2,147,483,647 ms (24.8 days). Rejects with `store_unavailable` after `close`.
 */
export function createMemoryRateLimiter(): MemoryRateLimiter {
  return new MemoryLimiter(MAX_KEYS);
}

/** Its methods are own properties, so that a wrapper can spread it. */
export class MemoryLimiter implements MemoryRateLimiter {
  readonly #maxKeys: number;
  readonly #counters = new Map<string, RuleCounter>();
  #isClosed = false;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  readonly consumeNow: MemoryRateLimiter["consumeNow"] = (key, rule, cost = 1) =>
    this.#counterOf(rule, cost).consume(key, cost);

  readonly consume: RateLimiter["consume"] = async (key, rule, cost) => this.consumeNow(key, rule, cost);

  readonly peek: RateLimiter["peek"] = async (key, rule) => this.#counterOf(rule).peek(key);

  readonly refund: RateLimiter["refund"] = async (key, rule, cost = 1) =>
    this.#counterOf(rule, cost).refund(key, cost);

  readonly close: RateLimiter["close"] = async () => {
    this.#isClosed = true;
    this.#counters.clear();
  };

  /** The counter of a rule, created at its first use. */
  #counterOf(rule: RateRule, cost = 1): RuleCounter {
    if (this.#isClosed) throw new ServiceError("store_unavailable", "The rate limiter is closed");
    // By hand: it runs for every request.
    if (!Number.isInteger(cost) || cost < 1) checkValue("cost", cost, COUNT);
    const { limit, windowMs, burst } = rule;
    const name = `${limit}/${windowMs}/${burst}`;
    const known = this.#counters.get(name);
    if (known !== undefined) return known;
    checkValue("limit", limit, COUNT);
    checkValue("windowMs", windowMs, WINDOW);
    if (burst !== undefined) checkValue("burst", burst, COUNT);
    const counter =
      burst === undefined
        ? new WindowCounter(rule, this.#maxKeys)
        : new BucketCounter({ ...rule, burst }, this.#maxKeys);
    this.#counters.set(name, counter);
    return counter;
  }
}

/** Counts the keys of one rule. */
interface RuleCounter {
  /** Takes `cost` points, all or none. */
  consume(key: string, cost: number): RateResult;
  peek(key: string): RateResult;
  refund(key: string, cost: number): void;
}

/** The points that a key has left until the end of its window. */
interface Window {
  remaining: number;
  /** By `wholeNow()`. */
  endsAt: number;
}

/** Counts in windows: the limit of points is there again when the window has ended. */
class WindowCounter implements RuleCounter {
  readonly #rule: RateRule;
  readonly #maxKeys: number;
  /** Of one length, so the first ones end first. */
  readonly #windows = new Map<string, Window>();

  constructor(rule: RateRule, maxKeys: number) {
    this.#rule = rule;
    this.#maxKeys = maxKeys;
  }

  consume(key: string, cost: number): RateResult {
    const now = wholeNow();
    const window = this.#current(key, now);
    const allowed = cost <= window.remaining;
    if (allowed) {
      window.remaining -= cost;
      if (this.#windows.get(key) !== window) this.#begin(key, window, now);
    }
    return { allowed, remaining: window.remaining, resetMs: window.endsAt - now };
  }

  peek(key: string): RateResult {
    const now = wholeNow();
    const { remaining, endsAt } = this.#current(key, now);
    return { allowed: remaining > 0, remaining, resetMs: endsAt - now };
  }

  refund(key: string, cost: number): void {
    // A new window is not stored: a refund begins none.
    const window = this.#current(key, wholeNow());
    window.remaining = Math.min(this.#rule.limit, window.remaining + cost);
  }

  /** The key's current window; a new one is not stored yet. */
  #current(key: string, now: number): Window {
    const known = this.#windows.get(key);
    if (known !== undefined && known.endsAt > now) return known;
    return { remaining: this.#rule.limit, endsAt: now + this.#rule.windowMs };
  }

  /** Stores a new window as the last one. */
  #begin(key: string, window: Window, now: number): void {
    this.#windows.delete(key);
    this.#windows.set(key, window);
    for (const [other, { endsAt }] of this.#windows) {
      if (endsAt > now && this.#windows.size <= this.#maxKeys) return;
      this.#windows.delete(other);
    }
  }
}

/**
 * What a key has taken from its bucket, in shares: a point has `windowMs` shares, and `limit` shares refill each
 * millisecond. So refills are whole numbers, and no rounding loses a part of a point.
 */
interface Bucket {
  taken: number;
  /** By `wholeNow()`. */
  at: number;
}

/** Counts in buckets of `burst` points, which refill by `limit` points in each window. */
class BucketCounter implements RuleCounter {
  readonly #rule: RateRule;
  readonly #capacity: number;
  readonly #maxKeys: number;
  /** The least recently used first. Full buckets may be missing. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(rule: RateRule & { burst: number }, maxKeys: number) {
    this.#rule = rule;
    this.#capacity = rule.burst * rule.windowMs;
    this.#maxKeys = maxKeys;
  }

  consume(key: string, cost: number): RateResult {
    const at = wholeNow();
    const before = this.#takenAt(this.#buckets.get(key), at);
    const after = before + cost * this.#rule.windowMs;
    if (after > this.#capacity) return this.#resultOf(before, false, cost);
    this.#keep(key, { taken: after, at });
    return this.#resultOf(after, true, cost);
  }

  peek(key: string): RateResult {
    const taken = this.#takenAt(this.#buckets.get(key), wholeNow());
    return this.#resultOf(taken, taken + this.#rule.windowMs <= this.#capacity, 1);
  }

  refund(key: string, cost: number): void {
    const bucket = this.#buckets.get(key);
    if (bucket !== undefined) bucket.taken -= cost * this.#rule.windowMs;
  }

  #takenAt(bucket: Bucket | undefined, now: number): number {
    return bucket === undefined ? 0 : Math.max(0, bucket.taken - (now - bucket.at) * this.#rule.limit);
  }

  /** Stores a bucket as the last one. Beyond `maxKeys`, those that were used longest ago count as full. */
  #keep(key: string, bucket: Bucket): void {
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    for (const [other, each] of this.#buckets) {
      if (this.#buckets.size <= this.#maxKeys && this.#takenAt(each, bucket.at) > 0) return;
      this.#buckets.delete(other);
    }
  }

  #resultOf(taken: number, allowed: boolean, cost: number): RateResult {
    const { limit, windowMs } = this.#rule;
    const missing = Math.min(cost * windowMs, this.#capacity) + taken - this.#capacity;
    const resetMs = Math.ceil((allowed ? taken : missing) / limit);
    return { allowed, remaining: Math.floor((this.#capacity - taken) / windowMs), resetMs };
  }
}

/** Milliseconds since the process started. Whole, as with fractions `now + windowMs - now` can exceed the window. */
function wholeNow(): number {
  return Math.floor(performance.now());
}
