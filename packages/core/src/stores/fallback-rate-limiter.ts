import type { RateLimiter } from "../contracts/rate-limiter.ts";
import { isServiceError } from "../errors.ts";
import { createMemoryRateLimiter } from "./memory/memory-rate-limiter.ts";

/** During an outage one call per second tries the shared limiter; the others do not wait for its failure. */
const RETRY_MS = 1_000;

/**
 * Counts in `shared`; while that is unavailable, in the memory of this process. An outage therefore neither
 * stops the service nor lifts its limits. During an outage each process allows as much as all processes
 * together did before.
 *
 * Closing it leaves `shared` open.
 * @param onError receives the failures of `shared`, at most about one per second.
 */
export function createFallbackRateLimiter(
  shared: RateLimiter,
  onError: (error: unknown) => void,
): RateLimiter {
  const local = createMemoryRateLimiter();
  let isAway = false;
  let retryAt = 0;
  /** Number of reported failures. */
  let outages = 0;

  async function count<T>(use: (limiter: RateLimiter) => Promise<T>): Promise<T> {
    if (isAway && performance.now() < retryAt) return use(local);
    retryAt = performance.now() + RETRY_MS;
    const outage = outages;
    try {
      const result = await use(shared);
      isAway = false;
      return result;
    } catch (error) {
      if (!isServiceError(error, "store_unavailable")) throw error;
      // Of calls that fail at once, only the first reports.
      if (outage === outages) {
        outages++;
        isAway = true;
        retryAt = performance.now() + RETRY_MS;
        onError(error);
      }
      return use(local);
    }
  }

  return {
    consume: (key, rule, cost) => count((limiter) => limiter.consume(key, rule, cost)),
    peek: (key, rule) => count((limiter) => limiter.peek(key, rule)),
    refund: (key, rule, cost) => count((limiter) => limiter.refund(key, rule, cost)),
    close: () => local.close(),
  };
}
