import { patternOf } from "../../schema/json-schema.ts";

const HOUR = "(?:[01]\\d|2[0-3])";

/** A date in a request, as text. */
export const DATE_SCHEMA = {
  type: "string",
  pattern:
    "^\\s*(\\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])" +
    `T${HOUR}:[0-5]\\d(?::[0-5]\\d(?:[.,]\\d{1,9})?)?(?:Z|[+-]${HOUR}:?[0-5]\\d)\\s*$`,
  description: "An ISO 8601 date with a zone.",
  examples: ["2030-01-31T12:00:00.000Z"],
} as const;

/** The pattern of Unix time as digits, for sources whose values are all strings. */
export const DATE_DIGITS = "^\\s*\\d{1,16}\\s*$";

/** A date in a request, as a number. */
export const DATE_NUMBER_SCHEMA = {
  type: "integer",
  minimum: -8.64e15,
  maximum: 8.64e15,
  description: "Unix time in milliseconds.",
  examples: [1895918400000],
} as const;

const ISO_8601 = patternOf(DATE_SCHEMA);
const DIGITS = patternOf({ pattern: DATE_DIGITS });

/**
 * Parses a date of a request to Unix milliseconds. Accepts an ISO 8601 string with a zone and, with `allowNumber`,
 * integer Unix milliseconds as a number or as digits. `null` for any other value, and for impossible dates such as 31
 * February.
 */
export function parseDate(value: unknown, allowNumber: boolean): number | null {
  if (typeof value === "number") return allowNumber && isTime(value) ? value : null;
  if (typeof value !== "string") return null;
  const text = value.trim();
  if (DIGITS.test(text)) return allowNumber && isTime(Number(text)) ? Number(text) : null;
  const match = ISO_8601.exec(text);
  if (match === null) return null;
  const [, year, month, day] = match.map(Number);
  const lastDay = new Date(Date.UTC(year ?? 0, month ?? 0, 0)).getUTCDate();
  if (day === undefined || day < 1 || day > lastDay) return null;
  const ms = Date.parse(text.replace(",", ".").replace(/([+-]\d{2})(\d{2})$/, "$1:$2"));
  return Number.isNaN(ms) ? null : ms;
}

function isTime(ms: number): boolean {
  return Number.isInteger(ms) && ms >= DATE_NUMBER_SCHEMA.minimum && ms <= DATE_NUMBER_SCHEMA.maximum;
}
