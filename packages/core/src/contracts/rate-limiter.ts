/**
 * A limit of points per window of time. Without `burst`, a key may take `limit` points in each window. With it, each key
 * has a bucket of `burst` points, which refills steadily at `limit` points per window.
 */
export interface RateRule {
  /** Points per window, an integer of at least 1. */
  limit: number;
  /** Length of the window in milliseconds. */
  windowMs: number;
  /** Points that a full bucket holds, an integer of at least 1. Absent: windows instead of a bucket. */
  burst?: number;
}

export interface RateResult {
  allowed: boolean;
  /** Whole points left; 0 if the limit is exceeded. */
  remaining: number;
  /**
   * Milliseconds until the window ends. With a bucket: until it is full, or, after a refusal, until it holds the refused
   * points.
   */
  resetMs: number;
}

/**
 * Counts points per key. Windows begin with a key's first point; a bucket is full before it. Exceeding the limit is a
 * result, not an error. A failing backend rejects with `store_unavailable`. A rejected `consume` costs nothing.
 */
export interface RateLimiter {
  /** Takes `cost` points (default 1), all or none. */
  consume(key: string, rule: RateRule, cost?: number): Promise<RateResult>;
  /** As {@link consume}, without a promise. Absent: the backend cannot. */
  consumeNow?(key: string, rule: RateRule, cost?: number): RateResult;
  /** Returns the result that `consume` would return for one point, without taking it. */
  peek(key: string, rule: RateRule): Promise<RateResult>;
  /** Returns `cost` points (default 1) to the current window or to the bucket. */
  refund(key: string, rule: RateRule, cost?: number): Promise<void>;
  /** Calling it twice is allowed. */
  close(): Promise<void>;
}
