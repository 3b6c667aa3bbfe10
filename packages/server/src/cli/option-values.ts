import type { ImageState } from "@outrigger/core";
import { normaliseAddress, parseDate } from "@outrigger/core/values";
import { InvalidArgumentError } from "commander";

const MAX_REASON_LENGTH = 1000;
const MAX_RATE_MB = 100_000;
const MAX_CONCURRENCY = 256;
const MINUTE_MS = 60_000;
const UNIT_MS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: 60 * MINUTE_MS,
  d: 24 * 60 * MINUTE_MS,
  w: 7 * 24 * 60 * MINUTE_MS,
};
/** The largest JavaScript date. */
const MAX_DATE_MS = 8.64e15;

/** Values of `--state`. */
export const STATES: readonly ImageState[] = [
  "processing",
  "ready",
  "withheld",
  "failed",
  "deleted",
  "expired",
  "removed",
  "damaged",
];

// The store validates these values too, but reports an invalid one as a bug of the caller. Typed values are usage errors.

/** The text of `--reason`. */
export function parseReason(text: string): string {
  if (text.trim() !== "" && text.length <= MAX_REASON_LENGTH) return text;
  throw new InvalidArgumentError(`It must have 1 to ${MAX_REASON_LENGTH} characters.`);
}

/** The URL of `--authority`. */
export function parseAuthority(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError("It must be an absolute http(s) URL.");
}

/** The time of `--created-from` and `--created-before`; a date without a time starts at 00:00 UTC. */
export function parseTime(text: string): Date {
  const ms = parseDate(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00Z` : text, false);
  if (ms !== null && ms >= 0) return new Date(ms);
  throw new InvalidArgumentError(
    "It must be a date such as 2030-01-31, or with time and zone such as 2030-01-31T12:00:00Z.",
  );
}

/** The time of `--delete-after`; a date without a time starts at 00:00 UTC. */
export function parseDeleteAfter(text: string): Date {
  const time = parseTime(text);
  if (time.getTime() > Date.now()) return time;
  throw new InvalidArgumentError("It must be in the future.");
}

/** The number of `--limit`. */
export function parseLimit(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 1.");
}

/** The bytes per second of `--rate`, which is given in MB/s. */
export function parseRate(text: string): number {
  const megabytes = Number(text);
  if (/^\d{1,6}(?:\.\d{1,3})?$/.test(text) && megabytes > 0 && megabytes <= MAX_RATE_MB)
    return megabytes * 1e6;
  throw new InvalidArgumentError(`It must be a number of MB/s from 0.001 to ${MAX_RATE_MB}.`);
}

/** The number of `--concurrency`. */
export function parseConcurrency(text: string): number {
  const number = Number(text);
  if (/^\d{1,3}$/.test(text) && number >= 1 && number <= MAX_CONCURRENCY) return number;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_CONCURRENCY}.`);
}

/** The number of `--max-removals`. */
export function parseRemovals(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 0.");
}

/** The time of `--expires`: a duration from `now`, or a date; a date without a time starts at 00:00 UTC; or `never`. */
export function parseExpiry(text: string, now = Date.now()): Date | "never" {
  if (text === "never") return text;
  const [, count = "", unit = ""] = /^(\d+)([mhdw])$/.exec(text) ?? [];
  const ms = now + Number(count) * (UNIT_MS[unit] ?? 0);
  if (unit !== "" && ms > now && ms <= MAX_DATE_MS) return new Date(ms);
  if (/^\d{4}-/.test(text)) return parseDeleteAfter(text);
  throw new InvalidArgumentError(
    "It must be a duration such as 30m, 12h, 7d or 2w, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z, or never.",
  );
}

/** An account's ID. */
export function parseAccount(text: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError("It must have 1 to 64 characters of A-Z, a-z, 0-9, _ and -.");
}

/** The address of `--email`. */
export function parseEmail(text: string): string {
  if (normaliseAddress(text) !== null) return text;
  throw new InvalidArgumentError("It must be an email address.");
}

/** The first characters of a key. */
export function parseHint(text: string): string {
  if (/^[0-9a-f]{4,40}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError("It must be the first 4 or more characters of a key.");
}
