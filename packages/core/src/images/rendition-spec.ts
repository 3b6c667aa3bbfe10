import type { ImageFormat, OriginalType, Quality, RenditionSpec } from "../contracts/renderer.ts";
import { ServiceError } from "../errors.ts";
import { isWordOf, type JsonSchema, patternOf } from "../openapi/json-schema.ts";
import { numbersUpTo } from "../openapi/number-pattern.ts";
import { formatOfOriginal } from "./formats.ts";
import type { ImageRecord } from "./image-record.ts";

const MAX_SIDE = 8192;
const DEFAULT_QUALITY: Quality = "high";
const SIDE = `(${numbersUpTo(MAX_SIDE)})`;

/** The parameter `convert`. */
export const CONVERT_SCHEMA = {
  type: "string",
  enum: ["low", "medium", "high", "max"] satisfies Quality[],
  default: DEFAULT_QUALITY,
  description: "Quality of a JPEG.",
} as const satisfies JsonSchema;

/** The parameter `resize`. */
export const RESIZE_SCHEMA = {
  type: "string",
  pattern: `^${SIDE}x${SIDE}?$|^x${SIDE}$`,
  description: `The box to fit into, \`<MaxWidth>x<MaxHeight>\`, \`<MaxWidth>x\` or \`x<MaxHeight>\`, with sides of 1 to ${MAX_SIDE} pixels. The picture keeps its proportions; what is made of pixels is never enlarged.`,
  examples: ["800x600", "800x", "x600"],
} as const satisfies JsonSchema;

/** The parameter `page`, as a number. */
export const PAGE_SCHEMA = {
  type: "integer",
  minimum: 1,
  maximum: 999_999_999,
  description: "Page of a PDF, from 1, at most as many as it has. What is no PDF has one page.",
} as const satisfies JsonSchema;

/** The same as digits in a text. */
export const PAGE_TEXT_SCHEMA = {
  type: "string",
  pattern: "^0*[1-9]\\d{0,8}$",
} as const satisfies JsonSchema;

const RESIZE = patternOf(RESIZE_SCHEMA);
/** Something with sides, though not ones that there are. */
const RESIZE_FORM = /^\d*x\d*$/;
const PAGE_TEXT = patternOf(PAGE_TEXT_SCHEMA);

/** What a read asks for, checked: the parameters `convert`, `resize` and `page`. */
export interface ReadParameters {
  quality?: Quality;
  maxWidth?: number;
  maxHeight?: number;
  page?: number;
}

/** Where parameters come from: a value of `undefined`, `null` or `""` counts as not given. */
export type ParameterSource = (name: string) => unknown;

/** Rejects what is out of form or range with `bad_request`. `convert` is looked at for `jpg` only. */
export function parseReadParameters(format: ImageFormat, value: ParameterSource): ReadParameters {
  const parameters: ReadParameters = {};
  if (format === "jpg") {
    const convert = given(value("convert"));
    if (convert !== undefined) parameters.quality = parseQuality(convert);
  }
  const resize = given(value("resize"));
  if (resize !== undefined) Object.assign(parameters, parseResize(resize));
  const page = given(value("page"));
  if (page !== undefined) parameters.page = parsePage(page);
  return parameters;
}

function given(value: unknown): unknown {
  return value === null || value === "" ? undefined : value;
}

function parseQuality(value: unknown): Quality {
  if (isWordOf(CONVERT_SCHEMA, value)) return value;
  throw new ServiceError("bad_request", `convert must be one of ${CONVERT_SCHEMA.enum.join(", ")}`);
}

function parseResize(value: unknown): Pick<ReadParameters, "maxWidth" | "maxHeight"> {
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
  const maxHeight = height ?? heightAlone;
  return {
    ...(width === undefined ? {} : { maxWidth: Number(width) }),
    ...(maxHeight === undefined ? {} : { maxHeight: Number(maxHeight) }),
  };
}

function parsePage(value: unknown): number {
  const page = typeof value === "string" && PAGE_TEXT.test(value) ? Number(value) : value;
  const { minimum, maximum } = PAGE_SCHEMA;
  if (typeof page === "number" && Number.isInteger(page) && page >= minimum && page <= maximum) return page;
  throw new ServiceError("bad_request", "page must be a whole number from 1");
}

/**
 * The rendition that `parameters` name, or `null` where that is the stored original as it is: the same type and nothing
 * to change. Rejects a page that the document does not have.
 */
export function chooseRendition(
  record: Pick<ImageRecord, "type" | "width" | "height" | "pages">,
  format: ImageFormat,
  parameters: ReadParameters,
): RenditionSpec | null {
  const { quality, maxWidth, maxHeight, page } = parameters;
  if (page !== undefined && page > pageCount(record)) {
    throw new ServiceError("bad_request", `page must be at most ${pageCount(record)}`);
  }
  const isSameType = formatOfOriginal(record.type) === format;
  // A page that is asked for by number comes alone, the first as any other.
  const isOnePage = page !== undefined && (isSameType ? pageCount(record) > 1 : page > 1);
  if (isSameType && quality === undefined && !isOnePage && !changesSize(record, maxWidth, maxHeight))
    return null;
  return {
    format,
    ...(format === "jpg" ? { quality: quality ?? DEFAULT_QUALITY } : {}),
    ...(maxWidth === undefined ? {} : { maxWidth }),
    ...(maxHeight === undefined ? {} : { maxHeight }),
    ...(isOnePage ? { page } : {}),
  };
}

/** Only documents have pages to choose from; the frames of an animation are not pages. */
function pageCount(record: Pick<ImageRecord, "type" | "pages">): number {
  if (record.type !== "application/pdf") return 1;
  return record.pages ?? Number.POSITIVE_INFINITY;
}

const SCALABLE: readonly OriginalType[] = ["image/svg+xml", "application/pdf"];

/** A raster is never enlarged, so a box that it fits into changes nothing; a scalable one is drawn to fill the box. */
function changesSize(
  { type, width, height }: Pick<ImageRecord, "type" | "width" | "height">,
  maxWidth: number | undefined,
  maxHeight: number | undefined,
): boolean {
  if (maxWidth === undefined && maxHeight === undefined) return false;
  if (width === null || height === null) return true;
  const scale = Math.min(
    (maxWidth ?? Number.POSITIVE_INFINITY) / width,
    (maxHeight ?? Number.POSITIVE_INFINITY) / height,
  );
  return SCALABLE.includes(type) ? scale !== 1 : scale < 1;
}

/** One short name per spec, safe in a store's key and in an entity tag. */
export function specName(spec: RenditionSpec): string {
  const box = `${spec.maxWidth ?? ""}x${spec.maxHeight ?? ""}`;
  const parts: string[] = [spec.format];
  if (spec.quality !== undefined) parts.push(spec.quality);
  if (box !== "x") parts.push(box);
  if (spec.page !== undefined) parts.push(`p${spec.page}`);
  return parts.join("-");
}
