import type { Size } from "@outrigger/core/images";

/** The bounds of a rendition. */
export interface FitLimits {
  /** The box to fit into. An absent side does not limit the size. */
  maxWidth?: number | undefined;
  maxHeight?: number | undefined;
  /** Whether a picture smaller than the box is enlarged. */
  enlarge: boolean;
  /** Pixels of the longer side at most. */ maxSide: number;
  /** Pixels in all. */
  maxPixels: number;
}

/**
 * The largest size with the aspect ratio of `natural` within `limits`: at least one pixel per side, never larger than
 * the box.
 */
export function fitInside(natural: Size, limits: FitLimits): Size {
  const boxed = limits.maxWidth !== undefined || limits.maxHeight !== undefined;
  const maxWidth = Math.min(limits.maxWidth ?? limits.maxSide, limits.maxSide);
  const maxHeight = Math.min(limits.maxHeight ?? limits.maxSide, limits.maxSide);
  const scale = Math.min(
    boxed && limits.enlarge ? Number.POSITIVE_INFINITY : 1,
    maxWidth / natural.width,
    maxHeight / natural.height,
  );
  const width = Math.min(maxWidth, Math.max(1, Math.round(natural.width * scale)));
  const height = Math.min(maxHeight, Math.max(1, Math.round(natural.height * scale)));
  if (width * height <= limits.maxPixels) return { width, height };
  // Relative to the natural size, not to the box: every box beyond the limit gives the same size.
  const shrink = Math.sqrt(limits.maxPixels / (natural.width * natural.height));
  const shrunkWidth = Math.min(width, limits.maxPixels, Math.max(1, Math.floor(natural.width * shrink)));
  const shrunkHeight = Math.min(height, Math.max(1, Math.floor(natural.height * shrink)));
  return {
    width: shrunkWidth,
    height: Math.min(shrunkHeight, Math.max(1, Math.floor(limits.maxPixels / shrunkWidth))),
  };
}
