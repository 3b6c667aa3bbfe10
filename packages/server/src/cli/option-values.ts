import type { ImageState } from "@outrigger/core";
import { InvalidArgumentError } from "commander";
import { z } from "zod";

const MAX_REASON_LENGTH = 1000;
const DATE = z.union([
  z.iso.date(),
  z.iso.datetime({ offset: true }),
  // Without seconds.
  z.iso.datetime({ offset: true, precision: -1 }),
]);

/** What `--state` can be. */
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

// The store proves what it is given as well, but as a bug of its caller's: what people type is wrong usage.

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

/** The time of `--delete-after`; a date alone stands for its beginning in UTC. */
export function parseDeleteAfter(text: string): Date {
  const date = DATE.safeParse(text).success ? new Date(text) : null;
  if (date === null || Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError(
      "It must be a date as 2030-01-31, or with time and zone as 2030-01-31T12:00:00Z.",
    );
  }
  if (date.getTime() > Date.now()) return date;
  throw new InvalidArgumentError("It must lie in the future.");
}

/** The number of `--limit`. */
export function parseLimit(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 1.");
}

const MAX_RATE_MB = 100_000;

/** The bytes per second of `--rate`, which is given in MB/s. */
export function parseRate(text: string): number {
  const megabytes = Number(text);
  if (/^\d{1,6}(?:\.\d{1,3})?$/.test(text) && megabytes > 0 && megabytes <= MAX_RATE_MB)
    return megabytes * 1e6;
  throw new InvalidArgumentError(`It must be a number of MB/s from 0.001 to ${MAX_RATE_MB}.`);
}
