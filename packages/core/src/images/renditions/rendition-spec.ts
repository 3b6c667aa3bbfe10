import type { PictureEdits } from "../../contracts/picture-edits.ts";
import type {
  ImageFormat,
  OriginalType,
  Quality,
  Renderer,
  RenditionSpec,
} from "../../contracts/renderer.ts";
import { ServiceError } from "../../errors.ts";
import { isWordOf, type JsonSchema, patternOf } from "../../schema/json-schema.ts";
import { numbersUpTo } from "../../schema/number-pattern.ts";
import { type AddressFormat, formatOfOriginal } from "../record/formats.ts";
import type { ImageRecord } from "../record/image-record.ts";
import { type CropParameters, parseCrop } from "./crop-parameters.ts";

const MAX_SIDE = 8192;
const DEFAULT_QUALITY: Quality = "high";
const SIDE = `(${numbersUpTo(MAX_SIDE)})`;

/** The parameter `convert`. */
export const CONVERT_SCHEMA = {
  type: "string",
  enum: ["low", "medium", "high", "max", "auto"] satisfies Quality[],
  default: DEFAULT_QUALITY,
  description:
    "Quality of a JPEG. `auto`, also for WebP and AVIF: the smallest file whose SSIM is that of `high`, or 0.98 if that is lower.",
} as const satisfies JsonSchema;

/** Formats with a single level beside "auto". */
const AUTO_ONLY: readonly AddressFormat[] = ["webp", "avif"];

/** The parameter `convert` of a format; `null`: ignored. */
export function convertSchema(format: AddressFormat): JsonSchema | null {
  if (format === "jpg" || format === "auto") return CONVERT_SCHEMA;
  if (!AUTO_ONLY.includes(format)) return null;
  return {
    description:
      "`auto`: the smallest file whose SSIM is that of the default, or 0.98 if that is lower. Other values are ignored.",
    examples: ["auto"],
  };
}

/** The parameter `resize`. */
export const RESIZE_SCHEMA = {
  type: "string",
  pattern: `^${SIDE}x${SIDE}?$|^x${SIDE}$`,
  description: `The box to fit into, \`<MaxWidth>x<MaxHeight>\`, \`<MaxWidth>x\` or \`x<MaxHeight>\`, with sides of 1 to ${MAX_SIDE} pixels. The picture keeps its proportions; a raster image is never enlarged.`,
  examples: ["800x600", "800x", "x600"],
} as const satisfies JsonSchema;

/** The parameter `page`, as a number. */
export const PAGE_SCHEMA = {
  type: "integer",
  minimum: 1,
  maximum: 999_999_999,
  description: "PDF page number, starting at 1. Other types have one page.",
} as const satisfies JsonSchema;

/** The parameter `page` as a string of digits. */
export const PAGE_TEXT_SCHEMA = {
  type: "string",
  pattern: "^0*[1-9]\\d{0,8}$",
} as const satisfies JsonSchema;

const RESIZE = patternOf(RESIZE_SCHEMA);
/** A text of the right form, whose sides may be out of range. */
const RESIZE_FORM = /^\d*x\d*$/;
const PAGE_TEXT = patternOf(PAGE_TEXT_SCHEMA);

/** The checked parameters of a read. */
export interface ReadParameters extends CropParameters {
  quality?: Quality;
  maxWidth?: number;
  maxHeight?: number;
  page?: number;
  /** Only from a preset. The box is that of the edited picture. */
  edits?: PictureEdits;
}

/** Returns the value of a parameter: `undefined`, `null` and `""` mean that it is not given. */
export type ParameterSource = (name: string) => unknown;

/** Throws `bad_request` for a value that is malformed or out of range. `convert` is ignored except for `jpg` and `auto`; `webp` and `avif` take its value "auto". */
export function parseReadParameters(format: AddressFormat, value: ParameterSource): ReadParameters {
  const parameters: ReadParameters = {};
  if (format === "jpg" || format === "auto") {
    const convert = given(value("convert"));
    if (convert !== undefined) parameters.quality = parseQuality(convert);
  } else if (AUTO_ONLY.includes(format) && value("convert") === "auto") parameters.quality = "auto";
  const resize = given(value("resize"));
  if (resize !== undefined) Object.assign(parameters, parseResize(resize));
  const hasBox = parameters.maxWidth !== undefined && parameters.maxHeight !== undefined;
  Object.assign(
    parameters,
    parseCrop((name) => given(value(name)), hasBox),
  );
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

type Original = Pick<ImageRecord, "type" | "width" | "height" | "pages" | "pageSizes" | "size" | "focus">;

/**
 * The rendition that `parameters` request. Parameters that yield the same picture yield the same spec.
 * `null`: the stored original, since neither type nor size changes. Throws `bad_request` for a page that the document
 * does not have.
 */
export function chooseRendition(
  record: Original,
  format: ImageFormat,
  parameters: ReadParameters,
  measure: Renderer["measure"],
): RenditionSpec | null {
  const { page, fit, edits } = parameters;
  const { maxWidth, maxHeight } = boxBeforeEdits(parameters);
  const quality = qualityOf(format, parameters);
  requirePage(record, page);
  const isSameType = formatOfOriginal(record.type) === format;
  // A page requested by number is served alone, even the first. Edits show one page anyway.
  const isDocument = isSameType && edits === undefined;
  const isOnePage = page !== undefined && (isDocument ? pageCount(record) > 1 : page > 1);
  const isAsStored = isDocument && quality === undefined && !isOnePage;
  if (isAsStored && fit === undefined && !changesSize(record, maxWidth, maxHeight)) return null;
  const picture = {
    format,
    ...(format === "jpg"
      ? { quality: quality ?? DEFAULT_QUALITY }
      : quality === undefined
        ? {}
        : { quality }),
    ...(isOnePage ? { page } : {}),
    ...(edits === undefined ? {} : { edits }),
  };
  const background = backgroundOf(format, parameters);
  const at = fit === "cover" ? placeOf(parameters.at ?? record.focus) : undefined;
  const asked = {
    ...picture,
    ...(maxWidth === undefined ? {} : { maxWidth }),
    ...(maxHeight === undefined ? {} : { maxHeight }),
    ...(fit === undefined ? {} : { fit }),
    ...(at === undefined ? {} : { at }),
    ...background,
  };
  const layout = measure(record, asked);
  if (layout === null) return asked;
  const isWhole = layout.drawn === undefined;
  const colour = isWhole && OPAQUE.includes(record.type) ? {} : background;
  const isNatural = isWhole && layout.width === record.width && layout.height === record.height;
  if (isAsStored && isNatural && !("background" in colour)) return null;
  return { ...picture, ...layout, ...colour };
}

/** A quarter turn exchanges the sides of the picture, and so those of the box that it must fit before. */
function boxBeforeEdits({
  maxWidth,
  maxHeight,
  edits,
}: ReadParameters): Pick<ReadParameters, "maxWidth" | "maxHeight"> {
  const isTurned = edits?.rotate === 90 || edits?.rotate === 270;
  const [width, height] = isTurned ? [maxHeight, maxWidth] : [maxWidth, maxHeight];
  return {
    ...(width === undefined ? {} : { maxWidth: width }),
    ...(height === undefined ? {} : { maxHeight: height }),
  };
}

/** `undefined`: the default. The address format `auto` may have a quality, and result in a format without it. */
function qualityOf(format: ImageFormat, { quality }: ReadParameters): Quality | undefined {
  return format === "jpg" || (quality === "auto" && AUTO_ONLY.includes(format)) ? quality : undefined;
}

/** `undefined` for the centre, which is the default. */
function placeOf(at: RenditionSpec["at"]): RenditionSpec["at"] {
  return at === undefined || typeof at === "string" || at[0] !== 0.5 || at[1] !== 0.5 ? at : undefined;
}

/** Types without transparency. */
const OPAQUE: readonly OriginalType[] = ["image/jpeg", "application/pdf"];

/** The background in a spec: absent for the colour that the format has anyway. */
function backgroundOf(
  format: ImageFormat,
  { background }: ReadParameters,
): Pick<RenditionSpec, "background"> {
  return background === undefined || (format === "jpg" && background === "ffffff") ? {} : { background };
}

/** Throws `bad_request` for a page that the document does not have. */
function requirePage(record: Original, page: number | undefined): void {
  if (page === undefined || page <= pageCount(record)) return;
  throw new ServiceError("bad_request", `page must be at most ${pageCount(record)}`);
}

/** Pages that can be requested; `Infinity`: unknown. Only PDFs have pages; the frames of an animation are not pages. */
export function pageCount(record: Original): number {
  if (record.type !== "application/pdf") return 1;
  return record.pages ?? Number.POSITIVE_INFINITY;
}

const SCALABLE: readonly OriginalType[] = ["image/svg+xml", "application/pdf"];

/** Whether a box changes the size. A raster is never enlarged, so a larger box changes nothing; a scalable image fills the box. */
function changesSize(
  { type, width, height }: Original,
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
