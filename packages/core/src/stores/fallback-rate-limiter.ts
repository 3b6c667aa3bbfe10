import type { RateLimiter } from "../contracts/rate-limiter.ts";
import { isServiceError } from "../errors.ts";
import { createMemoryRateLimiter } from "./memory/memory-rate-limiter.ts";

/** How often one call is risked on a limiter that is away: the others do not wait for its failure. */
const RETRY_MS = 1_000;

/**
 * Counts in `shared`; while that is unavailable, in this process' memory, so that a limiter which is away neither stops the
 * service nor lifts its limits: each process then allows as much as all together did.
 *
 * Being closed, it leaves `shared` open.
 * @param onError Gets the failures of `shared`, at most about one per second.
 */
export function createFallbackRateLimiter(
  shared: RateLimiter,
  onError: (error: unknown) => void,
): RateLimiter {
  const local = createMemoryRateLimiter();
  let isAway = false;
  let retryAt = 0;
  /** Failures that were reported. */
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
      // Of many that failed at once, the first tells.
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
