import { t, unitText } from "./texts.ts";

const MINUTE_MS = 60_000;
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
  if (ms === Number.POSITIVE_INFINITY) return t("duration.never");
  if (ms >= DAY_MS && (ms % DAY_MS === 0 || ms > 2 * DAY_MS)) return unitText(ms / DAY_MS, "day", ROUNDED);
  if (ms >= HOUR_MS && (ms % HOUR_MS === 0 || ms > 2 * HOUR_MS))
    return unitText(ms / HOUR_MS, "hour", ROUNDED);
  return unitText(ms / MINUTE_MS, "minute", ROUNDED);
}

/** Numbers that are not whole have two significant digits. */
const ROUNDED = {
  ...({ minimumFractionDigits: 0, maximumFractionDigits: 0, maximumSignificantDigits: 2 } as const),
  roundingPriority: "morePrecision",
} as const;

/** The time until `expiresAt`, rounded to the nearest unit: `24 hours left`. `null` for text that is not a date. */
export function timeLeftText(expiresAt: string, nowMs: number): string | null {
  const leftMs = Date.parse(expiresAt) - nowMs;
  if (Number.isNaN(leftMs)) return null;
  if (leftMs <= 0) return t("left.expired");
  if (leftMs < MINUTE_MS) return t("left.seconds");
  if (leftMs < 2 * HOUR_MS) return leftText(Math.round(leftMs / MINUTE_MS), "minute");
  if (leftMs < 2 * DAY_MS) return leftText(Math.round(leftMs / HOUR_MS), "hour");
  return leftText(Math.round(leftMs / DAY_MS), "day");
}

function leftText(count: number, unit: string): string {
  return t("left.time", { count, time: unitText(count, unit) });
}
