import type {
  ImageFormat,
  Layout,
  OriginalFacts,
  OriginalType,
  RenditionSpec,
  Size,
} from "@outrigger/core/images";
import { maxStoredBytes } from "@outrigger/core/values";
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

/** Pixels of the longer side of an intermediate. */
export const INTERMEDIATE_SIDE = 1600;
/** With fewer pixels on its shorter side, a very long or tall picture would lose too much detail. */
const MIN_SHORTER_SIDE = 100;
/**
 * The largest rendition made from an intermediate, as a share of the intermediate's size. A smaller reduction blurs:
 * against the direct rendition, a screenshot had an SSIM of 0.991 at 1599 px and 0.997 at 1400 px.
 */
const MAX_SHARE = 7 / 8;

/**
 * Milliseconds that a decode takes, measured by type. A PNG photograph of 12 megapixels and 22 MB takes 120. A
 * screenshot with as many pixels and 1 MB takes 25. Its thin regular lines also look better when reduced once, not
 * twice.
 */
const DECODE_MS: Partial<Record<OriginalType, (megapixels: number, megabytes: number) => number>> = {
  "image/png": (_, megabytes) => megabytes * 5.5,
  "image/gif": (_, megabytes) => megabytes * 19,
  "image/x-photoshop": (megapixels) => megapixels * 20,
};
/**
 * Milliseconds from which a decode is expensive. Reading an intermediate takes 8, and sending it to the worker another
 * 8. A JPEG is never expensive: its decoder can reduce it while decoding.
 */
const DEAR_MS = 40;
/**
 * Bytes from which an SVG is expensive to draw. Smaller files include icons, whose edges are sharp only when drawn at
 * their final size.
 */
const DEAR_SVG_BYTES = 64 * 1024;

/** A picture with the length of its file in bytes. */
interface Weighed extends Measured {
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
  const layout = renditionLayout(picture, spec, limits);
  return intermediateSize({ ...picture, bytes: original.size }, spec, layout, limits) !== null;
}

/**
 * The size of the intermediate for a rendition; `null` when the rendition is made from the original. It
 * depends only on the image's record, so all processes decide alike.
 */
export function intermediateSize(
  original: Weighed,
  { format }: RenditionSpec,
  layout: Layout,
  limits: PictureLimits,
): Size | null {
  const { type, natural, frames } = original;
  const size = layout.drawn ?? layout;
  if (!isDear(original) || isAnimated(format, frames) || staysVector(type, format)) return null;
  // The pixels of an intermediate and those of the largest reduction of it fit together.
  const maxBytes = maxStoredBytes(original.bytes) / (1 + MAX_SHARE ** 2);
  const intermediate = fitInside(natural, {
    maxWidth: INTERMEDIATE_SIDE,
    maxHeight: INTERMEDIATE_SIDE,
    enlarge: isScalable(type),
    maxSide: limits.maxSide,
    maxPixels: Math.min(limits.maxOutputPixels, maxBytes / (type === "application/pdf" ? 3 : 4)), // A page has no alpha.
  });
  const longer = Math.max(size.width, size.height);
  const available = Math.max(intermediate.width, intermediate.height);
  // An intermediate with all pixels of the original causes no second reduction.
  const isWhole = !isScalable(type) && available === Math.max(natural.width, natural.height);
  if (isWhole) return longer <= available ? intermediate : null;
  if (Math.min(intermediate.width, intermediate.height) < MIN_SHORTER_SIDE) return null;
  const isSame = size.width === intermediate.width && size.height === intermediate.height;
  return isSame || longer <= available * MAX_SHARE ? intermediate : null;
}

function isDear({ type, natural, frames, bytes }: Weighed): boolean {
  // Neither the bytes of a PDF nor its page sizes predict how long a page takes to draw.
  if (type === "application/pdf") return true;
  if (type === "image/svg+xml") return bytes >= DEAR_SVG_BYTES;
  const megapixels = (natural.width * natural.height) / 1e6;
  return (DECODE_MS[type]?.(megapixels, bytes / frames / 1e6) ?? 0) >= DEAR_MS;
}

function staysVector(type: OriginalType, format: RenditionSpec["format"]): boolean {
  if (type === "image/svg+xml") return format === "svg" || format === "pdf";
  return type === "application/pdf" && format === "pdf";
}
