/** So many points per window of time. */
export interface RateRule {
  /** Points per window, an integer of at least 1. */
  limit: number;
  /** Length of the window in milliseconds. */
  windowMs: number;
}

export interface RateResult {
  allowed: boolean;
  /** Points left in this window; 0 when over. */
  remaining: number;
  /** Milliseconds until the window ends. */
  resetMs: number;
}

/**
 * Counts points per key in windows that begin with a key's first point. Being over the limit is a result, not an
 * error; a failing backend rejects with `store_unavailable`. A refused `consume` costs nothing.
 */
export interface RateLimiter {
  /** Takes `cost` points (default 1), all or none. */
  consume(key: string, rule: RateRule, cost?: number): Promise<RateResult>;
  /** Tells what `consume` would say of one point, and takes none. */
  peek(key: string, rule: RateRule): Promise<RateResult>;
  /** Gives `cost` points (default 1) of the current window back. */
  refund(key: string, rule: RateRule, cost?: number): Promise<void>;
  /** Calling it twice is allowed. */
  close(): Promise<void>;
}
