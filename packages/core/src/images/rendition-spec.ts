import type { ImageFormat, OriginalType, Quality, RenditionSpec } from "../contracts/renderer.ts";
import { ServiceError } from "../errors.ts";
import { formatOfOriginal } from "./formats.ts";
import type { ImageRecord } from "./image-record.ts";

const MAX_SIDE = 8192;
const QUALITIES: readonly string[] = ["low", "medium", "high", "max"] satisfies Quality[];
const DEFAULT_QUALITY: Quality = "high";

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
  if (typeof value === "string" && QUALITIES.includes(value)) return value as Quality; // Just looked up.
  throw new ServiceError("bad_request", `convert must be one of ${QUALITIES.join(", ")}`);
}

function parseResize(value: unknown): Pick<ReadParameters, "maxWidth" | "maxHeight"> {
  const match = typeof value === "string" ? /^(\d{0,5})x(\d{0,5})$/.exec(value) : null;
  const [, width = "", height = ""] = match ?? [];
  if (width === "" && height === "") {
    throw new ServiceError(
      "bad_request",
      "resize must be <MaxWidth>x<MaxHeight>, <MaxWidth>x or x<MaxHeight>",
    );
  }
  return {
    ...(width === "" ? {} : { maxWidth: parseSide(width) }),
    ...(height === "" ? {} : { maxHeight: parseSide(height) }),
  };
}

function parseSide(digits: string): number {
  const side = Number(digits);
  if (side >= 1 && side <= MAX_SIDE) return side;
  throw new ServiceError("bad_request", `resize takes sides of 1 to ${MAX_SIDE} pixels`);
}

function parsePage(value: unknown): number {
  const page = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof page === "number" && Number.isInteger(page) && page >= 1) return page;
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
