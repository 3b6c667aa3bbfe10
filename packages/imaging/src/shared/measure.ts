import type {
  ImageFormat,
  Layout,
  OriginalFacts,
  OriginalType,
  RenditionSpec,
  Size,
} from "@outrigger/core/images";
import { cover, fitInside, pad } from "./fit.ts";
import type { PictureLimits } from "./wire.ts";

/** Facts about a picture, known before its pixels are decoded. */
interface Measured {
  type: OriginalType;
  natural: Size;
  /** Frames of an animation, else 1. */
  frames: number;
}

/** `Renderer.measure`. */
export function measure(original: OriginalFacts, spec: RenditionSpec, limits: PictureLimits): Layout | null {
  const isDocument = original.type === "application/pdf" && spec.format === "pdf" && spec.edits === undefined;
  if (isDocument && !isSized(spec)) return null;
  const picture = pictureInRecord(original, spec);
  return picture === null ? null : renditionLayout(picture, spec, limits);
}

/** The picture that a spec selects, according to the image's record; `null` when the record does not tell. */
function pictureInRecord(original: OriginalFacts, { page = 1 }: RenditionSpec): Measured | null {
  const { type, width, height, pages } = original;
  if (width === null || height === null || pages === null) return null;
  const natural = page === 1 ? { width, height } : sizeOfPage(original, page);
  return natural === null ? null : { type, natural, frames: type === "image/gif" ? pages : 1 };
}

function sizeOfPage({ pages, pageSizes = [] }: OriginalFacts, page: number): Size | null {
  const [, width, height] = pageSizes.findLast(([firstPage]) => firstPage <= page) ?? [0, 0, 0];
  return page > (pages ?? 0) || width === 0 ? null : { width, height };
}

/**
 * The layout of one frame of a rendition: the exact one in the spec, else that of the box or the natural size within the
 * limits.
 */
export function renditionLayout(
  { type, natural, frames }: Measured,
  spec: RenditionSpec,
  limits: PictureLimits,
): Layout {
  const { format, width, height, drawn, maxWidth, maxHeight, fit, at } = spec;
  if (width !== undefined && height !== undefined) {
    return { width, height, ...(drawn === undefined ? {} : { drawn }) };
  }
  const bounds = {
    enlarge: isScalable(type),
    maxSide: limits.maxSide,
    maxPixels: maxFramePixels(type, format, isAnimated(format, frames) ? frames : 1, limits),
  };
  if (fit === undefined || maxWidth === undefined || maxHeight === undefined) {
    return fitInside(natural, { maxWidth, maxHeight, ...bounds });
  }
  const box = { maxWidth, maxHeight, ...bounds };
  return fit === "cover" ? cover(natural, at, box) : pad(natural, box);
}

/** Whether a spec sets a size. Without one, PDF pages keep their size. */
export function isSized({ width, maxWidth, maxHeight }: RenditionSpec): boolean {
  return width !== undefined || maxWidth !== undefined || maxHeight !== undefined;
}

/** Whether a rendition with this number of frames is animated. */
export function isAnimated(format: ImageFormat, frames: number): boolean {
  return frames > 1 && (["gif", "webp", "svg"] as ImageFormat[]).includes(format);
}

/** Whether originals of this type can be drawn at any size without loss. */
export function isScalable(type: OriginalType): boolean {
  return type === "image/svg+xml" || type === "application/pdf";
}

/**
 * Pixels of a rendition by its encoder, as a share of `maxOutputPixels`. A larger rendition is scaled down. For GIF it is a
 * frame: the search for a palette takes 0.4 s per megapixel, ten times as long as any other encoder. WebP takes 15 MB per
 * megapixel in addition to the picture; AVIF 45 MB and 0.3 s.
 */
const ENCODER_SHARES: Partial<Record<ImageFormat, number>> = { gif: 0.16, webp: 0.64, avif: 0.24 };
/** Of all frames of an animation together, GIF or WebP. */
const ANIMATION_SHARE = 0.4;

function maxFramePixels(
  type: OriginalType,
  format: ImageFormat,
  frames: number,
  { maxOutputPixels }: PictureLimits,
): number {
  const pixelsOf = (share = 1) => Math.max(1, Math.round(maxOutputPixels * share));
  // A GIF inside an SVG stays a GIF.
  const encoder = format === "svg" && type === "image/gif" ? "gif" : format;
  const still = pixelsOf(ENCODER_SHARES[encoder]);
  return frames > 1 ? Math.min(still, Math.floor(pixelsOf(ANIMATION_SHARE) / frames)) : still;
}
