import { checkOptions, checkValue } from "../../check-options.ts";
import type { RateLimiter, RateResult, RateRule } from "../../contracts/rate-limiter.ts";
import { ServiceError } from "../../errors.ts";
import { type Options, preset, whole } from "../../option-rules.ts";
import { type BucketRule, createTokenBuckets, type TokenBuckets, wholeNow } from "./memory-token-buckets.ts";

/** Longest window, the same as of a Node timer: 24.8 days. */
const MAX_WINDOW_MS = 2 ** 31 - 1;
const RULES = {
  /**
   * Maximum number of keys per rule, from 1. Beyond it, the oldest windows and the least recently used buckets are
   * dropped.
   * @default 100_000
   */
  maxKeys: preset(100_000, whole(1)),
};

export interface MemoryRateLimiterOptions extends Options<typeof RULES> {}
const COUNT = whole(1);
const WINDOW = whole(1, MAX_WINDOW_MS);

/** The points that a key has left until the end of its window. */
interface Window {
  remaining: number;
  /** By `wholeNow()`. */
  endsAt: number;
}

/** A limiter in memory, which also answers at once. */
export type MemoryRateLimiter = RateLimiter & Required<Pick<RateLimiter, "consumeNow">>;

/**
 * A limiter within this process: each process of an app counts separately. It counts synchronously and needs no timers.
 *
 * Rejects with a `TypeError` if a limit, a burst or a cost is not an integer of at least 1, or a window is not an
 * integer from 1 to 2,147,483,647 ms (24.8 days). Rejects with `store_unavailable` after `close`.
 */
export function createMemoryRateLimiter(options: MemoryRateLimiterOptions = {}): MemoryRateLimiter {
  return new WindowLimiter(checkOptions("createMemoryRateLimiter", options, RULES).maxKeys);
}

/** Its methods are own properties, so that a wrapper can spread it. */
class WindowLimiter implements MemoryRateLimiter {
  readonly #maxKeys: number;
  /** By rule, then by key. The windows of a rule have one length, so the first ones of its map end first. */
  readonly #rules = new Map<string, Map<string, Window>>();
  readonly #bucketRules = new Map<string, TokenBuckets>();
  #isClosed = false;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  readonly consumeNow: MemoryRateLimiter["consumeNow"] = (key, rule, cost = 1) => {
    requireCost(cost);
    if (hasBucket(rule)) return this.#bucketsOf(rule).consume(key, cost);
    const windows = this.#windowsOf(rule);
    const now = wholeNow();
    const window = windowOf(windows, key, rule, now);
    const allowed = cost <= window.remaining;
    if (allowed) {
      window.remaining -= cost;
      if (windows.get(key) !== window) this.#begin(windows, key, window, now);
    }
    return stateOf(window, allowed, now);
  };

  readonly consume: RateLimiter["consume"] = async (key, rule, cost) => this.consumeNow(key, rule, cost);

  readonly peek: RateLimiter["peek"] = async (key, rule) => {
    if (hasBucket(rule)) return this.#bucketsOf(rule).peek(key);
    const now = wholeNow();
    const window = windowOf(this.#windowsOf(rule), key, rule, now);
    return stateOf(window, window.remaining > 0, now);
  };

  readonly refund: RateLimiter["refund"] = async (key, rule, cost = 1) => {
    requireCost(cost);
    if (hasBucket(rule)) return this.#bucketsOf(rule).refund(key, cost);
    // A new window is not stored: a refund begins none.
    const window = windowOf(this.#windowsOf(rule), key, rule, wholeNow());
    window.remaining = Math.min(rule.limit, window.remaining + cost);
  };

  readonly close: RateLimiter["close"] = async () => {
    this.#isClosed = true;
    this.#rules.clear();
    this.#bucketRules.clear();
  };

  #bucketsOf(rule: BucketRule): TokenBuckets {
    const name = `${rule.limit}/${rule.windowMs}/${rule.burst}`;
    return this.#ruleOf(this.#bucketRules, name, rule, () => createTokenBuckets(rule, this.#maxKeys));
  }

  #windowsOf(rule: RateRule): Map<string, Window> {
    return this.#ruleOf(this.#rules, `${rule.limit}/${rule.windowMs}`, rule, () => new Map());
  }

  /** The state of a rule, created at its first use. */
  #ruleOf<State>(states: Map<string, State>, name: string, rule: RateRule, create: () => State): State {
    if (this.#isClosed) throw new ServiceError("store_unavailable", "The rate limiter is closed");
    const known = states.get(name);
    if (known !== undefined) return known;
    checkValue("limit", rule.limit, COUNT);
    checkValue("windowMs", rule.windowMs, WINDOW);
    const created = create();
    states.set(name, created);
    return created;
  }

  /** Stores a new window as the last one. */
  #begin(windows: Map<string, Window>, key: string, window: Window, now: number): void {
    windows.delete(key);
    windows.set(key, window);
    for (const [other, { endsAt }] of windows) {
      if (endsAt > now && windows.size <= this.#maxKeys) return;
      windows.delete(other);
    }
  }
}

/** The key's current window; a new one is not stored yet. */
function windowOf(
  windows: Map<string, Window>,
  key: string,
  { limit, windowMs }: RateRule,
  now: number,
): Window {
  const known = windows.get(key);
  return known !== undefined && known.endsAt > now ? known : { remaining: limit, endsAt: now + windowMs };
}

/** Checked by hand: it runs for every request. */
function requireCost(cost: number): void {
  if (!Number.isInteger(cost) || cost < 1) checkValue("cost", cost, COUNT);
}

function hasBucket(rule: RateRule): rule is BucketRule {
  return rule.burst !== undefined;
}

function stateOf({ remaining, endsAt }: Window, allowed: boolean, now: number): RateResult {
  return { allowed, remaining, resetMs: endsAt - now };
}
