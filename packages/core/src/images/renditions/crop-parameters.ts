import type { FoundPlace, RenditionSpec } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { isWordOf, type JsonSchema, patternOf } from "../../schema/json-schema.ts";
import { POINT_SCHEMA, POINT_TEXT_SCHEMA, pointOf } from "../record/picture-point.ts";

/** The parameter `fit`. */
export const FIT_SCHEMA = {
  type: "string",
  enum: ["contain", "cover", "pad"],
  default: "contain",
  description:
    "How the picture fills the box of `resize`. `contain`: it fits inside. `cover`: it fills the box and is cut; a raster image smaller than the box gives the largest size with the ratio of the box. `pad`: it fits inside, with bars up to the size of the box.",
} as const satisfies JsonSchema;

const PLACES = ["attention", "entropy"] as const satisfies FoundPlace[];

/** The parameter `at` in a query or a form. */
export const AT_TEXT_SCHEMA = {
  type: "string",
  pattern: `${POINT_TEXT_SCHEMA.pattern}|^(?:${PLACES.join("|")})$`,
  description:
    "The part that `fit=cover` keeps: a point `x,y` in shares of width and height from the top left, `attention` (where people look first) or `entropy` (the most detail). Default: the image's `focus`, else the centre.",
  examples: ["0.5,0.25", "attention"],
} as const satisfies JsonSchema;

/** The parameter `at` in JSON. */
export const AT_SCHEMA = { anyOf: [AT_TEXT_SCHEMA, POINT_SCHEMA] } as const satisfies JsonSchema;

/** The parameter `background`. */
export const BACKGROUND_SCHEMA = {
  type: "string",
  pattern: "^(?:[0-9A-Fa-f]{6}|transparent)$",
  description:
    "Colour of the bars of `fit=pad`, and below transparent parts: `rrggbb` or `transparent`. Default: transparent; white in formats without transparency.",
  examples: ["ffffff", "transparent"],
} as const satisfies JsonSchema;

const BACKGROUND = patternOf(BACKGROUND_SCHEMA);

/** The checked parameters `fit`, `at` and `background`; absent ones have their defaults. */
export type CropParameters = Pick<RenditionSpec, "fit" | "at" | "background">;

/**
 * Throws `bad_request` for a malformed value, and for a value that needs a box of two sides. Values without effect are absent
 * in the result: `at` except for `cover`, and `background` except for `pad`.
 * @param value Returns a given value, else `undefined`.
 */
export function parseCrop(value: (name: string) => unknown, hasBox: boolean): CropParameters {
  const [fit, at, background] = [parseFit(value("fit")), parseAt(value("at")), value("background")];
  const isCut = fit === "cover";
  const colour = parseBackground(background);
  const needsBox =
    fit !== undefined ? "fit" : at !== undefined ? "at" : background !== undefined ? "background" : null;
  if (needsBox !== null && !hasBox) {
    throw new ServiceError("bad_request", `${needsBox} needs resize=<MaxWidth>x<MaxHeight> with both sides`);
  }
  return {
    ...(fit === undefined ? {} : { fit }),
    ...(isCut && at !== undefined ? { at } : {}),
    ...(fit === "pad" && colour !== undefined ? { background: colour } : {}),
  };
}

function parseFit(value: unknown): CropParameters["fit"] {
  if (value === undefined) return undefined;
  if (isWordOf(FIT_SCHEMA, value)) return value === "contain" ? undefined : value;
  throw new ServiceError("bad_request", `fit must be one of ${FIT_SCHEMA.enum.join(", ")}`);
}

/** Throws `bad_request` for a value that is no place. */
export function parseAt(value: unknown): CropParameters["at"] {
  if (value === undefined) return undefined;
  const place = PLACES.find((word) => word === value) ?? pointOf(value);
  if (place !== null) return place;
  throw new ServiceError(
    "bad_request",
    `at must be x,y with numbers from 0 to 1, or one of ${PLACES.join(", ")}`,
  );
}

/** `undefined` for no colour. */
function parseBackground(value: unknown): string | undefined {
  if (value === undefined || value === "transparent") return undefined;
  if (typeof value === "string" && BACKGROUND.test(value)) return value.toLowerCase();
  throw new ServiceError(
    "bad_request",
    "background must be six hexadecimal digits, such as ffffff, or transparent",
  );
}
