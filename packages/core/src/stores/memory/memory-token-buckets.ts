import { checkValue } from "../../check-options.ts";
import type { RateResult, RateRule } from "../../contracts/rate-limiter.ts";
import { whole } from "../../option-rules.ts";

/** A rule of buckets. */
export type BucketRule = RateRule & { burst: number };

/**
 * What a key has taken from its bucket, in shares: a point has `windowMs` shares, and `limit` shares refill each
 * millisecond. So refills are whole numbers, and no rounding loses a part of a point.
 */
interface Bucket {
  taken: number;
  /** By `wholeNow()`. */
  at: number;
}

const COUNT = whole(1);

/** The buckets of one rule, in the memory of this process. */
export interface TokenBuckets {
  /** Takes `cost` points, all or none. */
  consume(key: string, cost: number): RateResult;
  peek(key: string): RateResult;
  refund(key: string, cost: number): void;
}

/**
 * @param maxKeys Beyond it, the buckets that were used longest ago count as full.
 * @throws TypeError for a `burst` that is not an integer of at least 1.
 */
export function createTokenBuckets({ limit, windowMs, burst }: BucketRule, maxKeys: number): TokenBuckets {
  checkValue("burst", burst, COUNT);
  const capacity = burst * windowMs;
  /** The least recently used first. Full buckets may be missing. */
  const buckets = new Map<string, Bucket>();

  const takenAt = ({ taken, at }: Bucket, now: number) => Math.max(0, taken - (now - at) * limit);

  function takenBy(key: string, now: number): number {
    const bucket = buckets.get(key);
    return bucket === undefined ? 0 : takenAt(bucket, now);
  }

  function keep(key: string, bucket: Bucket): void {
    buckets.delete(key);
    buckets.set(key, bucket);
    for (const [other, each] of buckets) {
      if (buckets.size <= maxKeys && takenAt(each, bucket.at) > 0) return;
      buckets.delete(other);
    }
  }

  function resultOf(taken: number, allowed: boolean, cost: number): RateResult {
    const missing = Math.min(cost * windowMs, capacity) + taken - capacity;
    const resetMs = Math.ceil((allowed ? taken : missing) / limit);
    return { allowed, remaining: Math.floor((capacity - taken) / windowMs), resetMs };
  }

  return {
    consume(key, cost) {
      const at = wholeNow();
      const before = takenBy(key, at);
      const after = before + cost * windowMs;
      if (after > capacity) return resultOf(before, false, cost);
      keep(key, { taken: after, at });
      return resultOf(after, true, cost);
    },
    peek(key) {
      const taken = takenBy(key, wholeNow());
      return resultOf(taken, taken + windowMs <= capacity, 1);
    },
    refund(key, cost) {
      const bucket = buckets.get(key);
      if (bucket !== undefined) bucket.taken -= cost * windowMs;
    },
  };
}

/** Milliseconds since the process started. Whole, as with fractions `now + windowMs - now` can exceed the window. */
export function wholeNow(): number {
  return Math.floor(performance.now());
}
