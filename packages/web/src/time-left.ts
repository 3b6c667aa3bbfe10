const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const USUAL_LIFETIMES_MS: readonly number[] = [HOUR_MS, DAY_MS, 7 * DAY_MS, 30 * DAY_MS, 365 * DAY_MS];

/** Milliseconds of a lifetime. `null`, which has no end, gives `Infinity`. */
export function lifetimeMs(ms: number | null): number {
  return ms ?? Number.POSITIVE_INFINITY;
}

/**
 * Lifetimes to choose from in milliseconds, ascending: the usual ones, the default and the longest. `Infinity`, which has no end,
 * is one of them where the longest has none.
 */
export function lifetimeChoices({
  defaultLifetimeMs,
  maxLifetimeMs,
}: {
  defaultLifetimeMs?: number | null;
  maxLifetimeMs: number | null;
}): number[] {
  const longest = lifetimeMs(maxLifetimeMs);
  const usual = defaultLifetimeMs === undefined ? longest : lifetimeMs(defaultLifetimeMs);
  const choices = [...USUAL_LIFETIMES_MS, usual, longest].filter((ms) => ms <= longest);
  return [...new Set(choices)].sort((one, other) => (one < other ? -1 : 1));
}

/**
 * A duration in its largest fitting unit: `7 days`, `365 days`, `1 hour`; two significant digits if not a whole number. `Never` for
 * `Infinity`, as the time after which something happens.
 */
export function durationText(ms: number): string {
  if (ms === Number.POSITIVE_INFINITY) return "Never";
  if (ms >= DAY_MS && (ms % DAY_MS === 0 || ms > 2 * DAY_MS)) return counted(ms / DAY_MS, "day");
  if (ms >= HOUR_MS && (ms % HOUR_MS === 0 || ms > 2 * HOUR_MS)) return counted(ms / HOUR_MS, "hour");
  return counted(ms / MINUTE_MS, "minute");
}

function counted(amount: number, unit: string): string {
  const rounded = Number.isInteger(amount) ? amount : Number(amount.toPrecision(2));
  return new Intl.NumberFormat("en", { style: "unit", unit, unitDisplay: "long" }).format(rounded);
}

/** The time until `expiresAt`, rounded to the nearest unit: `24 hours left`. `null` for text that is not a date. */
export function timeLeftText(expiresAt: string, nowMs: number): string | null {
  const leftMs = Date.parse(expiresAt) - nowMs;
  if (Number.isNaN(leftMs)) return null;
  if (leftMs <= 0) return "expired";
  if (leftMs < MINUTE_MS) return "less than a minute left";
  if (leftMs < 1.5 * MINUTE_MS) return "1 minute left";
  if (leftMs < 2 * HOUR_MS) return `${Math.round(leftMs / MINUTE_MS)} minutes left`;
  if (leftMs < 2 * DAY_MS) return `${Math.round(leftMs / HOUR_MS)} hours left`;
  return `${Math.round(leftMs / DAY_MS)} days left`;
}

/** The time left in finer units, for a countdown: `23 h 59 min left`, `4 min 10 s left`. */
export function countdownText(leftMs: number): string {
  if (leftMs <= 0) return "expired";
  // Rounded up, so that `0 s left` is never shown before the end.
  const left = Math.ceil(leftMs / SECOND_MS) * SECOND_MS;
  if (left >= 2 * DAY_MS) return `${Math.floor(left / DAY_MS)} days ${part(left, DAY_MS, HOUR_MS)} h left`;
  if (left >= HOUR_MS) return `${Math.floor(left / HOUR_MS)} h ${part(left, HOUR_MS, MINUTE_MS)} min left`;
  if (left >= MINUTE_MS)
    return `${Math.floor(left / MINUTE_MS)} min ${part(left, MINUTE_MS, SECOND_MS)} s left`;
  return `${left / SECOND_MS} s left`;
}

function part(leftMs: number, largerMs: number, unitMs: number): number {
  return Math.floor((leftMs % largerMs) / unitMs);
}
