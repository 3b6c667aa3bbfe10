/** The longest delay of a timer; a longer one fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** Fraction added to `Retry-After`, so that clients with the same value do not retry at the same time. */
const JITTER = 0.1;
const MAX_JITTER_MS = 1_000;
/** Shortest wait, even after `Retry-After: 0`. */
const SHORTEST_MS = 100;

const HTTP_DATE = /^[A-Z][a-z]{2,8}, .+ GMT$/;

/**
 * `Retry-After` in milliseconds from the reply: whole seconds or an HTTP date. A date is compared with `Date` of the reply if
 * readable, so that wrong clocks do not matter. `null` for a missing or invalid header.
 */
export function parseRetryAfter(headers: Headers, nowMs: number): number | null {
  const text = headers.get("Retry-After")?.trim() ?? "";
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  if (!HTTP_DATE.test(text)) return null;
  const untilMs = Date.parse(text);
  const repliedMs = Date.parse(headers.get("Date") ?? "");
  if (Number.isNaN(untilMs)) return null;
  return Math.max(0, untilMs - (Number.isNaN(repliedMs) ? nowMs : repliedMs));
}

/** Wait before the next try without `Retry-After`: doubles with each try, and half of it is random. */
export function backoffMs(tries: number): number {
  const ms = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (tries - 1));
  return ms / 2 + Math.random() * (ms / 2);
}

/** Wait for a given `Retry-After`: never shorter. */
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
