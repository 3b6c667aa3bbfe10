import type { OriginalFacts, OriginalType, RenditionSpec, Size } from "@outrigger/core";
import { fitInside } from "./fit.ts";
import { isAnimated, isScalable, type Measured, pictureInRecord, renditionSize } from "./measure.ts";
import type { PictureLimits } from "./wire.ts";

/** Pixels of the longer side of an intermediate. */
export const INTERMEDIATE_SIDE = 1600;
/** Fewer pixels on the shorter side would lose too much of a strip. */
const MIN_SHORTER_SIDE = 100;
/**
 * The largest reduced rendition, as a share of its intermediate. Reducing by less blurs: a screenshot at 1599 px had an SSIM of 0.991
 * against the direct rendition, at 1400 px 0.997.
 */
const MAX_SHARE = 7 / 8;

/**
 * Milliseconds that a decode takes, as measured by type. A photograph as PNG, 12 megapixels and 22 MB, takes 120. A screenshot of
 * as many pixels, 1 MB, takes 25: its few bytes tell, and its thin regular lines are better reduced once than twice.
 */
const DECODE_MS: Partial<Record<OriginalType, (megapixels: number, megabytes: number) => number>> = {
  "image/png": (_, megabytes) => megabytes * 5.5,
  "image/gif": (_, megabytes) => megabytes * 19,
  "image/x-photoshop": (megapixels) => megapixels * 20,
};
/**
 * From how many milliseconds a decode is dear. Reading an intermediate takes 8, and bringing it to the worker as much again.
 * A JPEG never is: it decodes at a fraction of its size by itself.
 */
const DEAR_MS = 40;
/** From how many bytes an SVG is dear to draw. Smaller ones are icons too, whose edges are sharp only when drawn at their size. */
const DEAR_SVG_BYTES = 64 * 1024;

/** A picture, and the bytes of its file. */
export interface Weighed extends Measured {
  bytes: number;
}

/** `Renderer.usesIntermediate`. */
export function usesIntermediate(
  original: OriginalFacts,
  spec: RenditionSpec,
  limits: PictureLimits,
): boolean {
  const picture = pictureInRecord(original, spec);
  if (picture === null) return false;
  const size = renditionSize(picture, spec, limits);
  return intermediateSize({ ...picture, bytes: original.size }, spec, size, limits) !== null;
}

/**
 * The size of the intermediate that a rendition of `size` is made from; `null` where it is made from the original. It follows
 * from the record of an image alone, so that all processes decide alike.
 */
export function intermediateSize(
  original: Weighed,
  { format }: RenditionSpec,
  size: Size,
  limits: PictureLimits,
): Size | null {
  const { type, natural, frames } = original;
  if (!isDear(original) || isAnimated(format, frames) || staysVector(type, format)) return null;
  const intermediate = fitInside(natural, {
    maxWidth: INTERMEDIATE_SIDE,
    maxHeight: INTERMEDIATE_SIDE,
    enlarge: isScalable(type),
    maxSide: limits.maxSide,
    maxPixels: limits.maxOutputPixels,
  });
  const longer = Math.max(size.width, size.height);
  const available = Math.max(intermediate.width, intermediate.height);
  // An intermediate with all pixels of the original reduces nothing twice.
  const isWhole = !isScalable(type) && available === Math.max(natural.width, natural.height);
  if (isWhole) return longer <= available ? intermediate : null;
  if (Math.min(intermediate.width, intermediate.height) < MIN_SHORTER_SIDE) return null;
  const isSame = size.width === intermediate.width && size.height === intermediate.height;
  return isSame || longer <= available * MAX_SHARE ? intermediate : null;
}

function isDear({ type, natural, frames, bytes }: Weighed): boolean {
  // Neither the bytes of a PDF nor the size of its pages predict the time to draw one.
  if (type === "application/pdf") return true;
  if (type === "image/svg+xml") return bytes >= DEAR_SVG_BYTES;
  const megapixels = (natural.width * natural.height) / 1e6;
  return (DECODE_MS[type]?.(megapixels, bytes / frames / 1e6) ?? 0) >= DEAR_MS;
}

function staysVector(type: OriginalType, format: RenditionSpec["format"]): boolean {
  if (type === "image/svg+xml") return format === "svg" || format === "pdf";
  return type === "application/pdf" && format === "pdf";
}
