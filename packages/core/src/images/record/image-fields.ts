import { durationText } from "../../amounts.ts";
import { ServiceError } from "../../errors.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";
import { DATE_DIGITS, DATE_NUMBER_SCHEMA, DATE_SCHEMA, parseDate } from "./parse-date.ts";

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

/** The description in an upload and in an edit. */
export const DESCRIPTION_SCHEMA = {
  type: "string",
  maxLength: 1000,
  description:
    "Text for readers who do not see the image. Line breaks become spaces, other control characters are removed. The length counts in Unicode form NFC. In an edit, an empty text removes it.",
  examples: ["Two fishing boats in a harbour at dusk."],
} as const satisfies JsonSchema;

/**
 * Characters that are removed from names: line breaks, control characters, invisible marks that reverse the text
 * direction, and lone surrogates, which JSON can encode and UTF-8 cannot.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** A name in the form in which it is stored: NFC without control characters. */
export function cleanName(text: string): string {
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

/**
 * Parses a description, into one line. `undefined` if it is absent, `null` if it is `null` or empty. Rejects with `bad_request` a
 * value that is not a string, or has more than 1000 characters (code points).
 */
export function parseDescription(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return value;
  if (typeof value !== "string") throw new ServiceError("bad_request", "description must be a string");
  const description = cleanName(value.replace(/[\t-\r\u0085\u2028\u2029]+/gu, " "));
  const { maxLength } = DESCRIPTION_SCHEMA;
  if ([...description].length <= maxLength) return description === "" ? null : description;
  throw new ServiceError("bad_request", `description must have at most ${maxLength} characters`);
}

/** The default name of an image: its file name, without the path that some browsers put before it. */
export function nameOfFile(fileName: string): string {
  const name = cleanName(fileName.replace(/^.*[/\\]/s, ""));
  return name === "" ? "untitled" : [...name].slice(0, MAX_NAME_LENGTH).join("");
}

/** Source of a date in a request. A number is accepted from JSON, and as digits in a form, but not in a query. */
export type DateSource = "json" | "form" | "query";

/** The text that asks for no expiry. */
export const NEVER = "never";

/** Schemas of `expiresAt`, by source. */
export function expirySchemas({ maxLifetimeMs }: LifetimeLimits): Readonly<Record<DateSource, JsonSchema>> {
  const isLimited = maxLifetimeMs !== null;
  const orNever = isLimited ? "" : `|^\\s*${NEVER}\\s*$`;
  const form: JsonSchema = {
    type: "string",
    pattern: `${DATE_SCHEMA.pattern}|${DATE_DIGITS}${orNever}`,
    description: `An ISO 8601 date with a zone, or Unix time in milliseconds${isLimited ? "" : `, or \`${NEVER}\``}.`,
    examples: DATE_SCHEMA.examples,
  };
  return {
    query: { ...DATE_SCHEMA, pattern: `${DATE_SCHEMA.pattern}${orNever}` },
    form,
    json: { anyOf: [DATE_SCHEMA, DATE_NUMBER_SCHEMA, ...(isLimited ? [] : [{ enum: [NEVER, null] }])] },
  };
}

/** The part of the settings that limits the life of an image. */
export interface LifetimeLimits {
  /** `null`: no limit. */
  maxLifetimeMs: number | null;
}

/**
 * Parses an expiry to Unix milliseconds; `null`: never. `undefined` if it is absent. Rejects with `bad_request`, also if a client
 * asks for no expiry where the lifetime is limited.
 * @param source `code`: the host app, which may always keep an image for ever.
 */
export function parseExpiry(
  value: unknown,
  source: DateSource | "code",
  nowMs: number,
  { maxLifetimeMs }: LifetimeLimits,
): number | null | undefined {
  const isValue = source === "json" || source === "code";
  if (value === undefined || value === "" || (value === null && !isValue)) return undefined;
  const isText = typeof value === "string";
  if (value === null || (isText && value.trim() === NEVER)) {
    if (source === "code" || maxLifetimeMs === null) return null;
    throw new ServiceError(
      "bad_request",
      `expiresAt must be a date at most ${durationText(maxLifetimeMs)} from now`,
    );
  }
  const digitsAllowed = isText ? source === "form" : isValue;
  const expiresAt = parseDate(value, digitsAllowed);
  if (expiresAt === null) {
    throw new ServiceError(
      "bad_request",
      `expiresAt must be an ISO 8601 date with a zone, such as 2030-01-31T12:00:00.000Z, or integer Unix milliseconds${maxLifetimeMs === null ? `, or "${NEVER}"` : ""}`,
    );
  }
  if (expiresAt <= nowMs) throw new ServiceError("bad_request", "expiresAt must be in the future");
  if (maxLifetimeMs !== null && expiresAt > nowMs + maxLifetimeMs) {
    throw new ServiceError(
      "bad_request",
      `expiresAt must be at most ${durationText(maxLifetimeMs)} from now`,
    );
  }
  return expiresAt;
}

/** The expiry that a lifetime gives an image; `null`: never. @param lifetimeMs `null`: no end. */
export function expiryAfter(nowMs: number, lifetimeMs: number | null): number | null {
  return lifetimeMs === null ? null : nowMs + lifetimeMs;
}
