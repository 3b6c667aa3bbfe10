import { ServiceError } from "../../errors.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { DATE_DIGITS_SCHEMA, DATE_NUMBER_SCHEMA, DATE_SCHEMA, parseDate } from "./parse-date.ts";

/** The name in an upload. */
export const NAME_SCHEMA = {
  type: "string",
  maxLength: 255,
  description:
    "Display name of the image. Control characters are removed. The length counts in Unicode form NFC. An empty name counts as absent.",
  examples: ["Harbour at dusk.jpg"],
} as const satisfies JsonSchema;

/** A new name in an edit. */
export const NEW_NAME_SCHEMA = {
  ...NAME_SCHEMA,
  minLength: 1,
  description: "New name. Control characters are removed. The length counts in Unicode form NFC.",
} as const satisfies JsonSchema;

const MAX_NAME_LENGTH = NAME_SCHEMA.maxLength;

/**
 * Characters that are removed from names: line breaks, control characters, invisible marks that reverse the text
 * direction, and lone surrogates, which JSON can encode and UTF-8 cannot.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** A name in the form in which it is stored: NFC without control characters. */
function cleanName(text: string): string {
  return text.normalize("NFC").replace(UNPRINTABLE, "").trim();
}

/**
 * Parses a name. `undefined` if it is absent or empty. Rejects with `bad_request` a value that is not a string, or
 * has more than 255 characters.
 */
export function parseName(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new ServiceError("bad_request", "name must be a string");
  const name = cleanName(value);
  if ([...name].length > MAX_NAME_LENGTH) {
    throw new ServiceError("bad_request", `name must have at most ${MAX_NAME_LENGTH} characters`);
  }
  return name === "" ? undefined : name;
}

/** The default name of an image: its file name, without the path that some browsers put before it. */
export function nameOfFile(fileName: string): string {
  const name = cleanName(fileName.replace(/^.*[/\\]/s, ""));
  return name === "" ? "untitled" : [...name].slice(0, MAX_NAME_LENGTH).join("");
}

/** Source of a date. A number is accepted from JSON, and as digits in a form, but not in a query. */
export type DateSource = "json" | "form" | "query";

/** Schemas of `expiresAt`, by source. */
export const EXPIRY_SCHEMAS: Readonly<Record<DateSource, JsonSchema>> = {
  query: DATE_SCHEMA,
  form: {
    type: "string",
    pattern: `${DATE_SCHEMA.pattern}|${DATE_DIGITS_SCHEMA.pattern}`,
    description: "An ISO 8601 date with a zone, or Unix time in milliseconds.",
    examples: DATE_SCHEMA.examples,
  },
  json: { anyOf: [DATE_SCHEMA, DATE_NUMBER_SCHEMA] },
};

/** Parses an expiry to Unix milliseconds. `undefined` if it is absent. Rejects with `bad_request`. */
export function parseExpiry(
  value: unknown,
  source: DateSource,
  nowMs: number,
  { maxLifetimeMs }: { maxLifetimeMs: number },
): number | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const isText = typeof value === "string";
  const digitsAllowed = isText ? source === "form" : source === "json";
  const expiresAt = parseDate(value, digitsAllowed);
  if (expiresAt === null) {
    throw new ServiceError(
      "bad_request",
      "expiresAt must be an ISO 8601 date with a zone, such as 2030-01-31T12:00:00.000Z, or integer Unix milliseconds",
    );
  }
  if (expiresAt <= nowMs) throw new ServiceError("bad_request", "expiresAt must be in the future");
  if (isTooLate(expiresAt, nowMs, maxLifetimeMs)) {
    throw new ServiceError(
      "bad_request",
      `expiresAt must be at most ${Math.floor(maxLifetimeMs / 1000)} seconds (${formatDays(maxLifetimeMs)} days) from now`,
    );
  }
  return expiresAt;
}

/** Whether an expiry lies beyond the longest lifetime. */
export function isTooLate(expiresAtMs: number, nowMs: number, maxLifetimeMs: number): boolean {
  return expiresAtMs > nowMs + maxLifetimeMs;
}

function formatDays(ms: number): string {
  return String(Math.round((ms / 86_400_000) * 100) / 100);
}
