import { latestExpiry } from "../saved/expiry.ts";

const MINUTE_MS = 60_000;

/** Lifetime of the next uploads: a duration in milliseconds, or until a Unix time in milliseconds. */
export type Lifetime = { kind: "for"; ms: number } | { kind: "until"; atMs: number };

/** Lifetimes that the service sets, milliseconds. */
export interface LifetimeBounds {
  defaultLifetimeMs: number;
  maxLifetimeMs: number;
}

/** Value of the field `expiresAt`; empty for the default, which the service computes. */
export function expiresAtField(lifetime: Lifetime, nowMs: number, bounds: LifetimeBounds): string {
  if (lifetime.kind === "for" && lifetime.ms === bounds.defaultLifetimeMs) return "";
  const asked = lifetime.kind === "for" ? nowMs + lifetime.ms : lifetime.atMs;
  return new Date(Math.min(asked, latestExpiry(nowMs, bounds.maxLifetimeMs))).toISOString();
}

/** Value of `<input type="datetime-local">`: local time without a zone, to the minute. */
export function localDateValue(ms: number): string {
  const shifted = ms - new Date(ms).getTimezoneOffset() * MINUTE_MS;
  return new Date(shifted).toISOString().slice(0, 16);
}
