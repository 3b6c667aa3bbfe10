import type { PictureEdits } from "../../contracts/picture-edits.ts";
import type { FoundPlace, Quality, RenditionSpec } from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { isWordOf, type JsonSchema, patternOf } from "../../schema/json-schema.ts";
import type { AddressFormat } from "../record/formats.ts";
import { POINT_SCHEMA, POINT_TEXT_SCHEMA, pointOf } from "../record/picture-point.ts";

const MAX_SIDE = 8192;
export const DEFAULT_QUALITY: Quality = "high";
/** A number from 1 to {@link MAX_SIDE}, with or without leading zeros. */
const SIDE = "(0*(?:[1-9]\\d{0,2}|[1-7]\\d{3}|80\\d{2}|81[0-8]\\d{1}|819[0-1]|8192))";

/** The parameter `convert`. */
export const CONVERT_SCHEMA = {
  type: "string",
  enum: ["low", "medium", "high", "max"] satisfies Quality[],
  default: DEFAULT_QUALITY,
  description: "Quality of a JPEG.",
} as const satisfies JsonSchema;

/** The parameter `convert` of a format; `null`: ignored. */
export function convertSchema(format: AddressFormat): JsonSchema | null {
  return format === "jpg" || format === "auto" ? CONVERT_SCHEMA : null;
}

const PLACES = ["attention", "entropy"] as const satisfies FoundPlace[];

/** The other parameters of a rendition, in a query. */
export const RENDITION_SCHEMAS = {
  resize: {
    type: "string",
    pattern: `^${SIDE}x${SIDE}?$|^x${SIDE}$`,
    description: `The box to fit into, \`<MaxWidth>x<MaxHeight>\`, \`<MaxWidth>x\` or \`x<MaxHeight>\`, with sides of 1 to ${MAX_SIDE} pixels. The picture keeps its proportions; a raster image is never enlarged.`,
    examples: ["800x600", "800x", "x600"],
  },
  fit: {
    type: "string",
    enum: ["contain", "cover", "pad"],
    default: "contain",
    description:
      "How the picture fills the box of `resize`. `contain`: it fits inside. `cover`: it fills the box and is cut; a raster image smaller than the box gives the largest size with the ratio of the box. `pad`: it fits inside, with bars up to the size of the box. A PDF as PDF takes `contain` only.",
  },
  at: {
    type: "string",
    pattern: `${POINT_TEXT_SCHEMA.pattern}|^(?:${PLACES.join("|")})$`,
    description:
      "The part that `fit=cover` keeps: a point `x,y` in shares of width and height from the top left, `attention` (where people look first) or `entropy` (the most detail). Default: the image's `focus`, else the centre.",
    examples: ["0.5,0.25", "attention"],
  },
  background: {
    type: "string",
    pattern: "^(?:[0-9A-Fa-f]{6}|transparent)$",
    description:
      "Colour of the bars of `fit=pad`, and below transparent parts: `rrggbb` or `transparent`. Default: transparent; white in formats without transparency.",
    examples: ["ffffff", "transparent"],
  },
  page: {
    type: "integer",
    minimum: 1,
    maximum: 999_999_999,
    description: "PDF page number, starting at 1. Other types have one page.",
  },
} as const satisfies Readonly<Record<string, JsonSchema>>;

const PAGE_TEXT_SCHEMA = { type: "string", pattern: "^0*[1-9]\\d{0,8}$" } as const satisfies JsonSchema;

/** Those that differ in a form. */
export const FORM_SCHEMAS = { page: PAGE_TEXT_SCHEMA } as const;
/** Those that differ in JSON. */
export const JSON_SCHEMAS = {
  at: { anyOf: [RENDITION_SCHEMAS.at, POINT_SCHEMA] },
  page: { anyOf: [RENDITION_SCHEMAS.page, PAGE_TEXT_SCHEMA] },
} as const satisfies Readonly<Record<string, JsonSchema>>;

const RESIZE = patternOf(RENDITION_SCHEMAS.resize);
/** A text of the right form, whose sides may be out of range. */
const RESIZE_FORM = /^\d*x\d*$/;
const PAGE_TEXT = patternOf(PAGE_TEXT_SCHEMA);
const BACKGROUND = patternOf(RENDITION_SCHEMAS.background);

/** The checked parameters of a read. Absent ones have their defaults. */
export interface ReadParameters extends Pick<RenditionSpec, "fit" | "at" | "background"> {
  quality?: Quality;
  maxWidth?: number;
  maxHeight?: number;
  page?: number;
  /** Only from a preset. The box is that of the edited picture. */
  edits?: PictureEdits;
}

/** Returns the value of a parameter: `undefined`, `null` and `""` mean that it is not given. */
export type ParameterSource = (name: string) => unknown;

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/**
 * Throws `bad_request` for a value that is malformed or out of range. `convert` is ignored except for `jpg` and `auto`.
 */
export function parseReadParameters(format: AddressFormat, source: ParameterSource): ReadParameters {
  const value: ParameterSource = (name) => (isGiven(source(name)) ? source(name) : undefined);
  const convert = convertSchema(format) === null ? undefined : value("convert");
  if (convert !== undefined && !isWordOf(CONVERT_SCHEMA, convert)) {
    throw new ServiceError("bad_request", `convert must be one of ${CONVERT_SCHEMA.enum.join(", ")}`);
  }
  const box = parseResize(value("resize"));
  const crop = parseCrop(value, box.maxWidth !== undefined && box.maxHeight !== undefined);
  return present({ quality: convert, ...box, ...crop, page: parsePage(value("page")) });
}

/** The same object without members that are `undefined`. */
export function present<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }; // The filter proves it.
}

function parseResize(value: unknown): Record<"maxWidth" | "maxHeight", number | undefined> {
  if (value === undefined) return { maxWidth: undefined, maxHeight: undefined };
  const text = typeof value === "string" ? value : "";
  const match = RESIZE.exec(text);
  if (match === null) {
    throw new ServiceError(
      "bad_request",
      RESIZE_FORM.test(text) && text !== "x"
        ? `resize takes sides of 1 to ${MAX_SIDE} pixels`
        : "resize must be <MaxWidth>x<MaxHeight>, <MaxWidth>x or x<MaxHeight>",
    );
  }
  const [, width, height, heightAlone] = match;
  // Sides begin at 1.
  return { maxWidth: Number(width) || undefined, maxHeight: Number(height ?? heightAlone) || undefined };
}

/** Values without effect are `undefined`: `at` except for `cover`, and `background` except for `pad`. */
function parseCrop(value: ParameterSource, hasBox: boolean) {
  const fit = value("fit");
  if (fit !== undefined && !isWordOf(RENDITION_SCHEMAS.fit, fit)) {
    throw new ServiceError("bad_request", `fit must be one of ${RENDITION_SCHEMAS.fit.enum.join(", ")}`);
  }
  const at = parseAt(value("at"));
  const background = value("background");
  if (background !== undefined && !(typeof background === "string" && BACKGROUND.test(background))) {
    throw new ServiceError(
      "bad_request",
      "background must be six hexadecimal digits, such as ffffff, or transparent",
    );
  }
  const isFitted = fit === "cover" || fit === "pad";
  const needsBox = isFitted
    ? "fit"
    : at !== undefined
      ? "at"
      : background !== undefined
        ? "background"
        : null;
  if (needsBox !== null && !hasBox) {
    throw new ServiceError("bad_request", `${needsBox} needs resize=<MaxWidth>x<MaxHeight> with both sides`);
  }
  const isColoured = fit === "pad" && background !== "transparent";
  return {
    fit: isFitted ? fit : undefined,
    at: fit === "cover" ? at : undefined,
    background: isColoured ? background?.toLowerCase() : undefined,
  };
}

/** Throws `bad_request` for a value that is no place. */
export function parseAt(value: unknown): RenditionSpec["at"] {
  if (value === undefined) return undefined;
  const place = PLACES.find((word) => word === value) ?? pointOf(value);
  if (place !== null) return place;
  throw new ServiceError(
    "bad_request",
    `at must be x,y with numbers from 0 to 1, or one of ${PLACES.join(", ")}`,
  );
}

function parsePage(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const page = typeof value === "string" && PAGE_TEXT.test(value) ? Number(value) : value;
  const { minimum, maximum } = RENDITION_SCHEMAS.page;
  if (typeof page === "number" && Number.isInteger(page) && page >= minimum && page <= maximum) return page;
  throw new ServiceError("bad_request", "page must be a whole number from 1");
}
