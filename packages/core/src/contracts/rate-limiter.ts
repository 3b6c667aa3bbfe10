/** A limit of points per window of time. */
export interface RateRule {
  /** Points per window, an integer of at least 1. */
  limit: number;
  /** Length of the window in milliseconds. */
  windowMs: number;
}

export interface RateResult {
  allowed: boolean;
  /** Points left in this window; 0 if the limit is exceeded. */
  remaining: number;
  /** Milliseconds until the window ends. */
  resetMs: number;
}

/**
 * Counts points per key in windows that begin with a key's first point. Exceeding the limit is a result, not
 * an error. A failing backend rejects with `store_unavailable`. A rejected `consume` costs nothing.
 */
export interface RateLimiter {
  /** Takes `cost` points (default 1), all or none. */
  consume(key: string, rule: RateRule, cost?: number): Promise<RateResult>;
  /** As {@link consume}, without a promise. Absent: the backend cannot. */
  consumeNow?(key: string, rule: RateRule, cost?: number): RateResult;
  /** Returns the result that `consume` would return for one point, without taking it. */
  peek(key: string, rule: RateRule): Promise<RateResult>;
  /** Returns `cost` points (default 1) to the current window. */
  refund(key: string, rule: RateRule, cost?: number): Promise<void>;
  /** Calling it twice is allowed. */
  close(): Promise<void>;
}
