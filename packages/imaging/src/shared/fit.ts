import type { Layout, RenditionSpec, Size } from "@outrigger/core/images";

/** The bounds of a rendition. */
interface FitLimits {
  /** The box to fit into. An absent side does not limit the size. */
  maxWidth?: number | undefined;
  maxHeight?: number | undefined;
  /** Whether a picture smaller than the box is enlarged. */
  enlarge: boolean;
  /** Pixels of the longer side at most. */
  maxSide: number;
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

/** The largest size within a square of `side` pixels. */
export function fitSquare(natural: Size, side: number, enlarge = false): Size {
  return fitInside(natural, {
    maxWidth: side,
    maxHeight: side,
    enlarge,
    maxSide: side,
    maxPixels: side ** 2,
  });
}

/** Where the whole picture lies: its size, and the offset of the rendition in it, negative for bars. */
export interface Placement extends Size {
  left: number;
  top: number;
}

/**
 * Pixels of the longer side of a drawing of which a part is cut out. Beyond it a rendition gets smaller: only drawings with an
 * extreme ratio reach it, and cairo cannot address much more.
 */
const MAX_DRAWN_SIDE = 800_000;

/** Limits with a box of two sides. */
export type BoxLimits = FitLimits & { maxWidth: number; maxHeight: number };

/** A rendition that fills its box. What lies beyond is cut, and the part around `at` stays. */
export function cover(natural: Size, at: RenditionSpec["at"], limits: BoxLimits): Layout {
  const { maxWidth, maxHeight, enlarge, maxSide } = limits;
  const scale = Math.max(maxWidth / natural.width, maxHeight / natural.height);
  const maxScale = enlarge ? MAX_DRAWN_SIDE / Math.max(natural.width, natural.height) : 1;
  const size = shrunk(limits, Math.min(1, maxSide / maxWidth, maxSide / maxHeight, maxScale / scale));
  const drawnScale = Math.max(size.width / natural.width, size.height / natural.height);
  const drawn = {
    width: Math.max(size.width, Math.round(natural.width * drawnScale)),
    height: Math.max(size.height, Math.round(natural.height * drawnScale)),
  };
  if (drawn.width === size.width && drawn.height === size.height) return size;
  if (typeof at === "string") return { ...size, drawn: { ...drawn, at } };
  const [x, y] = at ?? [0.5, 0.5];
  const left = clamp(Math.round(x * drawn.width - size.width / 2), 0, drawn.width - size.width);
  const top = clamp(Math.round(y * drawn.height - size.height / 2), 0, drawn.height - size.height);
  return { ...size, drawn: { ...drawn, left, top } };
}

/** A rendition of the size of its box, with the picture in its middle. */
export function pad(natural: Size, limits: BoxLimits): Layout {
  const { maxWidth, maxHeight, maxSide } = limits;
  const size = shrunk(limits, Math.min(1, maxSide / maxWidth, maxSide / maxHeight));
  const drawn = fitInside(natural, { ...limits, maxWidth: size.width, maxHeight: size.height });
  if (drawn.width === size.width && drawn.height === size.height) return size;
  const left = 0 - Math.floor((size.width - drawn.width) / 2);
  const top = 0 - Math.floor((size.height - drawn.height) / 2);
  return { ...size, drawn: { ...drawn, left, top } };
}

/** The box reduced by `scale`, and further to the pixel limit. */
function shrunk({ maxWidth, maxHeight, maxPixels }: BoxLimits, scale: number): Size {
  const width = Math.max(1, Math.round(maxWidth * scale));
  const height = Math.max(1, Math.round(maxHeight * scale));
  if (width * height <= maxPixels) return { width, height };
  // Relative to the ratio of the box: every box of this ratio beyond the limit gives the same size.
  const shrink = Math.sqrt(maxPixels / (maxWidth * maxHeight));
  const shrunkWidth = Math.min(width, maxPixels, Math.max(1, Math.floor(maxWidth * shrink)));
  const shrunkHeight = Math.min(height, Math.max(1, Math.floor(maxHeight * shrink)));
  return {
    width: shrunkWidth,
    height: Math.min(shrunkHeight, Math.max(1, Math.floor(maxPixels / shrunkWidth))),
  };
}

/** The same placement in a rendition of another size. */
export function scaledPlacement({ width, height, left, top }: Placement, from: Size, to: Size): Placement {
  const [scaledWidth, scaledLeft] = scaledSide(width, left, from.width, to.width);
  const [scaledHeight, scaledTop] = scaledSide(height, top, from.height, to.height);
  return { width: scaledWidth, height: scaledHeight, left: scaledLeft, top: scaledTop };
}

/** A side and its offset. A side that covers the rendition still covers it, and one within it stays within. */
function scaledSide(side: number, offset: number, from: number, to: number): [side: number, offset: number] {
  const scaled = Math.max(1, Math.round((side * to) / from));
  const moved = Math.round((offset * to) / from);
  if (side >= from) {
    const covering = Math.max(to, scaled);
    return [covering, clamp(moved, 0, covering - to)];
  }
  const inside = Math.min(to, scaled);
  return [inside, clamp(moved, inside - to, 0)];
}

/** The part of the drawn picture that a rendition of `size` shows. */
export function windowOf({ width, height, left, top }: Placement, size: Size): Placement {
  return {
    width: Math.min(width, size.width),
    height: Math.min(height, size.height),
    left: Math.max(0, left),
    top: Math.max(0, top),
  };
}

/** `max` is at least `min`. */
export function clamp(value: number, min: number, max: number): number {
  // Without the sum, a rounded negative fraction would be -0.
  return Math.min(max, Math.max(min, value)) + 0;
}
