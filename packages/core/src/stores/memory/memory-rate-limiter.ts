import { checkOptions, checkValue } from "../../check-options.ts";
import type { RateLimiter, RateResult, RateRule } from "../../contracts/rate-limiter.ts";
import { ServiceError } from "../../errors.ts";
import { preset, type RuleTable, whole } from "../../option-rules.ts";
import { type BucketRule, createTokenBuckets, type TokenBuckets, wholeNow } from "./memory-token-buckets.ts";

/** Longest window, the same as of a Node timer: 24.8 days. */
const MAX_WINDOW_MS = 2 ** 31 - 1;

export interface MemoryRateLimiterOptions {
  /**
   * Maximum number of keys per rule, an integer of at least 1. Beyond that, the windows that began first, and the
   * buckets that were used longest ago, are dropped.
   * @default 100_000
   */
  maxKeys?: number | undefined;
}

const RULES = { maxKeys: preset(100_000, whole(1)) } satisfies RuleTable<MemoryRateLimiterOptions>;
const COUNT = whole(1);
const WINDOW = whole(1, MAX_WINDOW_MS);

/** The points that a key has left until the end of its window. */
interface Window {
  remaining: number;
  /** By `wholeNow()`. */
  endsAt: number;
}

/**
 * A limiter within this process: each process of an app counts separately. It counts synchronously and needs no timers.
 *
 * Rejects with a `TypeError` if a limit, a burst or a cost is not an integer of at least 1, or a window is not an
 * integer from 1 to 2,147,483,647 ms (24.8 days). Rejects with `store_unavailable` after `close`.
 */
export function createMemoryRateLimiter(
  options: MemoryRateLimiterOptions = {},
): RateLimiter & Required<Pick<RateLimiter, "consumeNow">> {
  const { maxKeys } = checkOptions("createMemoryRateLimiter", options, RULES);
  /** By rule, then by key. The windows of a rule have one length, so the first ones of its map end first. */
  const rules = new Map<string, Map<string, Window>>();
  const bucketRules = new Map<string, TokenBuckets>();
  let isClosed = false;

  function requireOpen(): void {
    if (isClosed) throw new ServiceError("store_unavailable", "The rate limiter is closed");
  }

  function bucketsOf(rule: BucketRule): TokenBuckets {
    requireOpen();
    const name = `${rule.limit}/${rule.windowMs}/${rule.burst}`;
    let buckets = bucketRules.get(name);
    if (buckets === undefined) {
      checkValue("limit", rule.limit, COUNT);
      checkValue("windowMs", rule.windowMs, WINDOW);
      buckets = createTokenBuckets(rule, maxKeys);
      bucketRules.set(name, buckets);
    }
    return buckets;
  }

  function windowsOf({ limit, windowMs }: RateRule): Map<string, Window> {
    requireOpen();
    const name = `${limit}/${windowMs}`;
    let windows = rules.get(name);
    if (windows === undefined) {
      checkValue("limit", limit, COUNT);
      checkValue("windowMs", windowMs, WINDOW);
      windows = new Map();
      rules.set(name, windows);
    }
    return windows;
  }

  /** The key's current window; a new one is not stored yet. */
  function look(
    windows: Map<string, Window>,
    key: string,
    { limit, windowMs }: RateRule,
    now: number,
  ): Window {
    const known = windows.get(key);
    return known !== undefined && known.endsAt > now ? known : { remaining: limit, endsAt: now + windowMs };
  }

  /** Stores a new window as the last one. */
  function begin(windows: Map<string, Window>, key: string, window: Window, now: number): void {
    windows.delete(key);
    windows.set(key, window);
    for (const [other, { endsAt }] of windows) {
      if (endsAt > now && windows.size <= maxKeys) return;
      windows.delete(other);
    }
  }

  function consumeNow(key: string, rule: RateRule, cost = 1): RateResult {
    requireCost(cost);
    if (hasBucket(rule)) return bucketsOf(rule).consume(key, cost);
    const windows = windowsOf(rule);
    const now = wholeNow();
    const window = look(windows, key, rule, now);
    const allowed = cost <= window.remaining;
    if (allowed) {
      window.remaining -= cost;
      if (windows.get(key) !== window) begin(windows, key, window, now);
    }
    return stateOf(window, allowed, now);
  }

  return {
    consumeNow,
    async consume(key, rule, cost) {
      return consumeNow(key, rule, cost);
    },
    async peek(key, rule) {
      if (hasBucket(rule)) return bucketsOf(rule).peek(key);
      const now = wholeNow();
      const window = look(windowsOf(rule), key, rule, now);
      return stateOf(window, window.remaining > 0, now);
    },
    async refund(key, rule, cost = 1) {
      requireCost(cost);
      if (hasBucket(rule)) return bucketsOf(rule).refund(key, cost);
      // A new window is not stored: a refund begins none.
      const window = look(windowsOf(rule), key, rule, wholeNow());
      window.remaining = Math.min(rule.limit, window.remaining + cost);
    },
    async close() {
      isClosed = true;
      rules.clear();
      bucketRules.clear();
    },
  };
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
