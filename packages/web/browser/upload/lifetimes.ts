const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const USUAL_CHOICES = [HOUR_MS, DAY_MS, 7 * DAY_MS, 30 * DAY_MS, 365 * DAY_MS];

/** Margin for clocks that differ: the service refuses a date beyond the longest lifetime. */
const LONGEST_MARGIN_MS = 5 * MINUTE_MS;

/** Lifetime of the next uploads: a duration in milliseconds, or until a Unix time in milliseconds. */
export type Lifetime = { kind: "for"; ms: number } | { kind: "until"; atMs: number };

/** Lifetimes that the service sets, milliseconds. */
export interface LifetimeBounds {
  defaultLifetimeMs: number;
  maxLifetimeMs: number;
}

/** Lifetimes to choose from, ascending, including the default and the longest. */
export function lifetimeChoices({ defaultLifetimeMs, maxLifetimeMs }: LifetimeBounds): number[] {
  const choices = [...USUAL_CHOICES, defaultLifetimeMs, maxLifetimeMs].filter((ms) => ms <= maxLifetimeMs);
  return [...new Set(choices)].sort((one, other) => one - other);
}

/** `7 days`, `1 year`; rounded to two digits when it is not a whole number of a unit. */
export function lifetimeText(ms: number): string {
  if (ms === 365 * DAY_MS) return "1 year";
  if (ms >= DAY_MS && (ms % DAY_MS === 0 || ms > 2 * DAY_MS)) return counted(ms / DAY_MS, "day");
  if (ms >= HOUR_MS && (ms % HOUR_MS === 0 || ms > 2 * HOUR_MS)) return counted(ms / HOUR_MS, "hour");
  return counted(ms / MINUTE_MS, "minute");
}

/** Value of the field `expiresAt`; empty for the default, which the service computes. */
export function expiresAtField(lifetime: Lifetime, nowMs: number, bounds: LifetimeBounds): string {
  if (lifetime.kind === "for" && lifetime.ms === bounds.defaultLifetimeMs) return "";
  const asked = lifetime.kind === "for" ? nowMs + lifetime.ms : lifetime.atMs;
  const latest = nowMs + bounds.maxLifetimeMs - Math.min(LONGEST_MARGIN_MS, bounds.maxLifetimeMs / 2);
  return new Date(Math.min(asked, latest)).toISOString();
}

/** Value of `<input type="datetime-local">`: local time without a zone, to the minute. */
export function localDateValue(ms: number): string {
  const shifted = ms - new Date(ms).getTimezoneOffset() * MINUTE_MS;
  return new Date(shifted).toISOString().slice(0, 16);
}

function counted(amount: number, unit: string): string {
  const rounded = Number.isInteger(amount) ? amount : Number(amount.toPrecision(2));
  return `${rounded} ${unit}${rounded === 1 ? "" : "s"}`;
}
