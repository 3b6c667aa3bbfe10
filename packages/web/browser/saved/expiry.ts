const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Margin for clocks that differ: the service refuses a date beyond the longest lifetime. */
const LONGEST_MARGIN_MS = 5 * MINUTE_MS;

const RELATIVE = new Intl.RelativeTimeFormat("en-GB");

/** When an image expires, rounded down: `expires in 23 hours`. */
export function expiryText(expiresAt: string | null, nowMs: number): string {
  if (expiresAt === null) return "never expires";
  const leftMs = Date.parse(expiresAt) - nowMs;
  if (leftMs <= 0) return "expired";
  if (leftMs < MINUTE_MS) return "expires in less than a minute";
  const [unit, unitMs] =
    leftMs < 2 * HOUR_MS
      ? (["minute", MINUTE_MS] as const)
      : leftMs < 2 * DAY_MS
        ? (["hour", HOUR_MS] as const)
        : (["day", DAY_MS] as const);
  return `expires ${RELATIVE.format(Math.floor(leftMs / unitMs), unit)}`;
}

/** The latest expiry that the service accepts now, Unix milliseconds. `Infinity` gives `Infinity`. */
export function latestExpiry(nowMs: number, maxLifetimeMs: number): number {
  return nowMs + maxLifetimeMs - Math.min(LONGEST_MARGIN_MS, maxLifetimeMs / 2);
}
