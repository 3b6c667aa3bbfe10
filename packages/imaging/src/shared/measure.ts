import type { ImageFormat, OriginalFacts, OriginalType, RenditionSpec, Size } from "@outrigger/core";
import { fitInside } from "./fit.ts";
import type { PictureLimits } from "./wire.ts";

/** What is known of a picture before its pixels are decoded. */
export interface Measured {
  type: OriginalType;
  natural: Size;
  /** Frames of an animation, else 1. */
  frames: number;
}

/** `Renderer.measure`. */
export function measure(original: OriginalFacts, spec: RenditionSpec, limits: PictureLimits): Size | null {
  if (original.type === "application/pdf" && spec.format === "pdf" && !isSized(spec)) return null;
  const picture = recorded(original, spec);
  return picture === null ? null : renditionSize(picture, spec, limits);
}

/** What a record tells of the picture that a spec is of; `null`: not enough. */
export function recorded(original: OriginalFacts, { page = 1 }: RenditionSpec): Measured | null {
  const { type, width, height, pages } = original;
  if (width === null || height === null || pages === null) return null;
  const natural = page === 1 ? { width, height } : sizeOfPage(original, page);
  return natural === null ? null : { type, natural, frames: type === "image/gif" ? pages : 1 };
}

function sizeOfPage({ pages, pageSizes = [] }: OriginalFacts, page: number): Size | null {
  const [, width, height] = pageSizes.findLast(([firstPage]) => firstPage <= page) ?? [0, 0, 0];
  return page > (pages ?? 0) || width === 0 ? null : { width, height };
}

/** The size of a rendition, one frame of it: what the spec says exactly, or its box or the natural size within the limits. */
export function renditionSize(
  { type, natural, frames }: Measured,
  spec: RenditionSpec,
  limits: PictureLimits,
): Size {
  const { format, width, height, maxWidth, maxHeight } = spec;
  if (width !== undefined && height !== undefined) return { width, height };
  return fitInside(natural, {
    maxWidth,
    maxHeight,
    enlarge: isScalable(type),
    maxSide: limits.maxSide,
    maxPixels: maxFramePixels(type, format, isAnimated(format, frames) ? frames : 1, limits),
  });
}

/** Whether a spec asks for a size; without one, pages of a PDF keep theirs, whatever that is. */
export function isSized({ width, maxWidth, maxHeight }: RenditionSpec): boolean {
  return width !== undefined || maxWidth !== undefined || maxHeight !== undefined;
}

/** Whether a rendition of so many frames moves. */
export function isAnimated(format: ImageFormat, frames: number): boolean {
  return frames > 1 && (["gif", "webp", "svg"] as ImageFormat[]).includes(format);
}

/** Whether originals of this type are drawn at any size, so that enlarging them loses nothing. */
export function isScalable(type: OriginalType): boolean {
  return type === "image/svg+xml" || type === "application/pdf";
}

function maxFramePixels(
  type: OriginalType,
  format: ImageFormat,
  frames: number,
  limits: PictureLimits,
): number {
  const bounds = [limits.maxOutputPixels];
  // A GIF stays one inside an SVG.
  if (format === "gif" || (format === "svg" && type === "image/gif")) bounds.push(limits.maxGifOutputPixels);
  if (format === "webp") bounds.push(limits.maxWebpOutputPixels);
  if (format === "avif") bounds.push(limits.maxAvifOutputPixels);
  if (frames > 1) bounds.push(Math.floor(limits.maxAnimationOutputPixels / frames));
  return Math.min(...bounds);
}
