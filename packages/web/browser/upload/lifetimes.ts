import { durationText } from "../../src/time-left.ts";
import { latestExpiry } from "../saved/expiry.ts";
import { localText } from "../viewer/local-time.ts";

const MINUTE_MS = 60_000;

/** Lifetime of the next uploads: a duration in milliseconds (`Infinity`: no end), or until the value of a `datetime-local` field, also a wrong one. */
export type Lifetime = { kind: "for"; ms: number } | { kind: "until"; text: string };

/** Lifetimes that the service sets, milliseconds. `Infinity`: no end. */
export interface LifetimeBounds {
  defaultLifetimeMs: number;
  maxLifetimeMs: number;
}

/** Why the service would refuse a lifetime, for a person; `null` if it accepts it. */
export function lifetimeFault(
  lifetime: Lifetime,
  nowMs: number,
  { maxLifetimeMs }: Pick<LifetimeBounds, "maxLifetimeMs">,
): string | null {
  if (lifetime.kind === "for") return null;
  const atMs = new Date(lifetime.text).getTime();
  if (Number.isNaN(atMs)) return "Enter a date and a time.";
  if (atMs <= nowMs) return "Choose a time in the future.";
  const latestMs = latestExpiry(nowMs, maxLifetimeMs);
  return atMs <= latestMs ? null : `At most ${durationText(maxLifetimeMs)}: ${localText(latestMs)}.`;
}

/** Value of the field `expiresAt` for a lifetime without a fault; empty for the default, which the service computes. */
export function expiresAtField(lifetime: Lifetime, nowMs: number, bounds: LifetimeBounds): string {
  if (lifetime.kind === "until") return new Date(lifetime.text).toISOString();
  if (lifetime.ms === bounds.defaultLifetimeMs) return "";
  if (lifetime.ms === Number.POSITIVE_INFINITY) return "never";
  return new Date(Math.min(nowMs + lifetime.ms, latestExpiry(nowMs, bounds.maxLifetimeMs))).toISOString();
}

/** Value of `<input type="datetime-local">`: local time without a zone, to the minute. */
export function localDateValue(ms: number): string {
  const shifted = ms - new Date(ms).getTimezoneOffset() * MINUTE_MS;
  return new Date(shifted).toISOString().slice(0, 16);
}
