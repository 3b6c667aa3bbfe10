import type { ImageState } from "@outrigger/core";
import { normaliseAddress, parseDate, parsedUrl } from "@outrigger/core/values";
import { InvalidArgumentError } from "commander";

const MAX_REASON_LENGTH = 1000;
const MAX_RATE_MB = 100_000;
const MAX_CONCURRENCY = 256;

/** Values of `--state`. */
export const STATES: readonly ImageState[] = [
  "processing",
  "held",
  "ready",
  "withheld",
  "failed",
  "deleted",
  "expired",
  "removed",
  "damaged",
];

// The store validates these values too, but reports an invalid one as a bug of the caller. Typed values are usage errors.

/** A parser of typed values. @param read Returns `null` for an invalid text. @param must Completes the sentence "It must …". */
function parser<Value>(must: string, read: (text: string) => Value | null): (text: string) => Value {
  return (text) => {
    const value = read(text);
    if (value !== null) return value;
    throw new InvalidArgumentError(`It must ${must}.`);
  };
}

/** A text that matches a pattern. */
function matching(must: string, pattern: RegExp): (text: string) => string {
  return parser(must, (text) => (pattern.test(text) ? text : null));
}

/** A whole number of up to so many digits. */
function whole(must: string, min: number, max: number): (text: string) => number {
  return parser(must, (text) => {
    const number = Number(text);
    return /^\d{1,15}$/.test(text) && number >= min && number <= max ? number : null;
  });
}

/** The text of `--reason`. */
export const parseReason = parser(`have 1 to ${MAX_REASON_LENGTH} characters`, (text) =>
  text.trim() !== "" && text.length <= MAX_REASON_LENGTH ? text : null,
);

/** The URL of `--authority`. */
export const parseAuthority = parser("be an absolute http(s) URL", (text) =>
  /^https?:$/.test(parsedUrl(text)?.protocol ?? "") ? text : null,
);

/** The time of `--created-from` and `--created-before`; a date without a time starts at 00:00 UTC. */
export const parseTime = parser(
  "be a date such as 2030-01-31, or with time and zone such as 2030-01-31T12:00:00Z",
  (text) => {
    const ms = parseDate(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00Z` : text, false);
    return ms !== null && ms >= 0 ? new Date(ms) : null;
  },
);

/** The time of `--delete-after`; a date without a time starts at 00:00 UTC. */
export const parseDeleteAfter = parser("be in the future", (text) => {
  const time = parseTime(text);
  return time.getTime() > Date.now() ? time : null;
});

/** The number of `--max-removals`. */
export const parseCount = whole("be a whole number from 0", 0, 1e15);
/** The number of `--concurrency`. */
export const parseConcurrency = whole(`be a whole number from 1 to ${MAX_CONCURRENCY}`, 1, MAX_CONCURRENCY);

/** The bytes per second of `--rate`, which is given in MB/s. */
export const parseRate = parser(`be a number of MB/s from 0.001 to ${MAX_RATE_MB}`, (text) => {
  const megabytes = Number(text);
  const isRate = /^\d{1,6}(?:\.\d{1,3})?$/.test(text) && megabytes > 0 && megabytes <= MAX_RATE_MB;
  return isRate ? megabytes * 1e6 : null;
});

/** An account's ID. */
export const parseAccount = matching(
  "have 1 to 64 characters of A-Z, a-z, 0-9, _ and -",
  /^[A-Za-z0-9_-]{1,64}$/,
);

/** The address of `--email`. */
export const parseEmail = parser("be an email address", (text) =>
  normaliseAddress(text) === null ? null : text,
);

/** The first characters of a key. */
export const parseHint = parser("be the first 4 or more characters of a key", (text) =>
  /^[0-9a-f]{4,40}$/i.test(text) ? text.toLowerCase() : null,
);

/** The name of an encoding that can be read. */
export function parseEncoding(text: string): string {
  try {
    return new TextDecoder(text).encoding;
  } catch {
    throw new InvalidArgumentError("It must be an encoding, such as windows-1252 or macintosh.");
  }
}

/** The text of `--map`: `address=Email,firstName=Given name`. A repeated option adds to the earlier ones. */
export function parseMapping(
  text: string,
  previous: Readonly<Record<string, string>> = {},
): Record<string, string> {
  // A column name may contain commas.
  const pairs = text.split(/,(?=[A-Za-z_]+=)/).map((pair) => {
    const [, field = "", column = ""] = /^([A-Za-z_]+)=(.+)$/s.exec(pair.trim()) ?? [];
    if (field === "") throw new InvalidArgumentError("It must be field=column,….");
    return [field, column];
  });
  return { ...previous, ...Object.fromEntries(pairs) };
}
