import type { PicturePoint } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { type JsonSchema, patternOf } from "../../schema/json-schema.ts";

/** A share with at most 17 decimal digits, as JavaScript writes numbers. */
const SHARE = "(?:0(?:\\.\\d{1,17})?|\\.\\d{1,17}|1(?:\\.0{1,17})?)";

/** A point in a query or a form. */
export const POINT_TEXT_SCHEMA = {
  type: "string",
  pattern: `^${SHARE},${SHARE}$`,
  examples: ["0.5,0.25"],
} as const satisfies JsonSchema;

/** A point in JSON. */
export const POINT_SCHEMA = {
  type: "array",
  items: { type: "number", minimum: 0, maximum: 1 },
  minItems: 2,
  maxItems: 2,
  examples: [[0.5, 0.25]],
} as const satisfies JsonSchema;

/** One side of a point in the edit form, in percent. Empty: none. */
export const PERCENT_TEXT_SCHEMA = {
  type: "string",
  pattern: "^(?:\\d{1,2}(?:\\.\\d{1,15})?|100(?:\\.0{1,15})?)?$",
  examples: ["33.33"],
} as const satisfies JsonSchema;

const POINT_TEXT = patternOf(POINT_TEXT_SCHEMA);

/** Decimal digits of a point: finer than a pixel of 8192. */
const DIGITS = 4;

/** Parses a point, rounded to four decimal digits. `null` for any other value. */
export function pointOf(value: unknown): PicturePoint | null {
  const shares: readonly unknown[] =
    typeof value === "string" && POINT_TEXT.test(value)
      ? value.split(",").map(Number)
      : Array.isArray(value)
        ? value
        : [];
  const [x, y, ...more] = shares;
  return isShare(x) && isShare(y) && more.length === 0 ? [rounded(x), rounded(y)] : null;
}

/**
 * Parses the focus of an image. `undefined` if it is absent, `null` if it is `null` or empty. Rejects with `bad_request` any
 * value that is not a point.
 */
export function parseFocus(value: unknown): PicturePoint | null | undefined {
  if (value === undefined) return undefined;
  if (value === null || value === "") return null;
  const point = pointOf(value);
  if (point !== null) return point;
  throw new ServiceError(
    "bad_request",
    'focus must be two numbers from 0 to 1: [x, y] in JSON, "x,y" in a form or query',
  );
}

function isShare(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}

function rounded(share: number): number {
  // Without the sum, -0 would stay -0.
  return Number(share.toFixed(DIGITS)) + 0;
}
