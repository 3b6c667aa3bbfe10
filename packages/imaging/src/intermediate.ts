import type { OriginalFacts, OriginalType, RenditionSpec } from "@outrigger/core";
import { fitInside, type Size } from "./fit.ts";
import { isAnimated, isScalable, type Measured, recorded, renditionSize } from "./measure.ts";
import type { PictureLimits } from "./wire.ts";

/** Pixels of the longer side of an intermediate. */
const SIDE = 1600;
/** Fewer pixels on the shorter side would lose too much of a strip. */
const MIN_SHORTER_SIDE = 100;
/**
 * The largest reduced rendition, as a share of its intermediate. Reducing by less blurs: a screenshot at 1599 px had an SSIM of 0.991
 * against the direct rendition, at 1400 px 0.997.
 */
const MAX_SHARE = 7 / 8;

/**
 * From how many pixels a decode is dear: reading the intermediate instead saves at least half of the time. A JPEG decodes
 * at a fraction of its size by itself, in less time than an intermediate takes to read.
 */
const DEAR_PIXELS: Partial<Record<OriginalType, number>> = {
  "image/png": 4_000_000,
  "image/gif": 4_000_000,
  "image/x-photoshop": 1_000_000,
};
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
  const picture = recorded(original, spec);
  if (picture === null) return false;
  const size = renditionSize(picture, spec, limits);
  return intermediateSize({ ...picture, bytes: original.size }, spec, size, limits) !== null;
}

/**
 * The size of the intermediate that a rendition of `size` is made from; `null`: none, it is made from the original. Told by what
 * the record of an image holds, so that every process decides alike.
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
    maxWidth: SIDE,
    maxHeight: SIDE,
    enlarge: isScalable(type),
    maxSide: limits.maxSide,
    maxPixels: limits.maxOutputPixels,
  });
  const longer = Math.max(size.width, size.height);
  const available = Math.max(intermediate.width, intermediate.height);
  // Where all pixels of the original are there, nothing is reduced twice.
  const isWhole = !isScalable(type) && available === Math.max(natural.width, natural.height);
  if (isWhole) return longer <= available ? intermediate : null;
  if (Math.min(intermediate.width, intermediate.height) < MIN_SHORTER_SIDE) return null;
  const isSame = size.width === intermediate.width && size.height === intermediate.height;
  return isSame || longer <= available * MAX_SHARE ? intermediate : null;
}

function isDear({ type, natural, bytes }: Weighed): boolean {
  // Neither the length of a PDF nor the size of its pages tells what drawing one takes.
  if (type === "application/pdf") return true;
  if (type === "image/svg+xml") return bytes >= DEAR_SVG_BYTES;
  return natural.width * natural.height >= (DEAR_PIXELS[type] ?? Number.POSITIVE_INFINITY);
}

function staysVector(type: OriginalType, format: RenditionSpec["format"]): boolean {
  if (type === "image/svg+xml") return format === "svg" || format === "pdf";
  return type === "application/pdf" && format === "pdf";
}
