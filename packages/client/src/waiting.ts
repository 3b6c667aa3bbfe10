/** The longest that a timer can wait; it would take more for nothing. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** Of what the service asks for, so much is put on top, lest all who were told the same come back at once. */
const JITTER = 0.1;
const MAX_JITTER_MS = 1_000;
/** Who is told to come back at once still leaves the service some time. */
const SHORTEST_MS = 100;

/** How long to wait before the next try where nobody said: doubled with each, half of it by chance. */
export function backoffMs(tries: number): number {
  const ms = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (tries - 1));
  return ms / 2 + Math.random() * (ms / 2);
}

/** How long to wait where the service said so: never shorter. */
export function obeyedMs(retryAfterMs: number): number {
  return Math.max(SHORTEST_MS, retryAfterMs) + Math.random() * Math.min(MAX_JITTER_MS, retryAfterMs * JITTER);
}

/** Resolves after `ms`; rejects with the signal's reason as soon as that aborts. */
export function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
