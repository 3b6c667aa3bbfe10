import { durationText } from "../../src/time-left.ts";

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

/** A way to extend an image. */
export interface ExpiryStep {
  label: string;
  /** The new expiry, Unix milliseconds. */
  atMs: number;
}

const STEPS = [
  { label: "+1 day", addedMs: DAY_MS },
  { label: "+30 days", addedMs: 30 * DAY_MS },
] as const;

/**
 * The ways to extend an image. One that ends at the longest lifetime says so; one that changes nothing is left out. None for an
 * image that never expires.
 */
export function expirySteps(
  expiresAt: string | null,
  bounds: { nowMs: number; maxLifetimeMs: number },
): ExpiryStep[] {
  const steps: ExpiryStep[] = [];
  if (expiresAt === null) return steps;
  for (const { label, addedMs } of STEPS) {
    const atMs = extendedExpiry(expiresAt, addedMs, bounds);
    if (atMs === null || atMs === steps.at(-1)?.atMs) continue;
    const isWhole = atMs === Date.parse(expiresAt) + addedMs;
    steps.push({ label: isWhole ? label : `Extend to ${durationText(bounds.maxLifetimeMs)}`, atMs });
  }
  return steps;
}

/**
 * The expiry `addedMs` after the current one, at most the latest that the service accepts, in Unix milliseconds. `null`
 * if that is no later than the current one.
 */
function extendedExpiry(
  expiresAt: string,
  addedMs: number,
  { nowMs, maxLifetimeMs }: { nowMs: number; maxLifetimeMs: number },
): number | null {
  const currentMs = Date.parse(expiresAt);
  const extendedMs = Math.min(currentMs + addedMs, latestExpiry(nowMs, maxLifetimeMs));
  return extendedMs - currentMs < MINUTE_MS ? null : extendedMs;
}
