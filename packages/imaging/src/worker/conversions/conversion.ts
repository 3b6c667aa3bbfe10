import type { OriginalType, RenditionSpec, Size } from "@outrigger/core/images";
import sharp, { type Sharp } from "sharp";
import { type Placement, scaledPlacement } from "../../shared/crop.ts";
import type { PictureLimits } from "../../shared/wire.ts";
import type { Picture } from "../picture.ts";
import { readPngGamma } from "../png/png-gamma.ts";
import { isSameSize, placedPixels, resized } from "./placed-pixels.ts";

/** The conversion of one original to one rendition. */
export interface Conversion {
  /** The original file. */
  bytes: Buffer;
  type: OriginalType;
  picture: Picture;
  spec: RenditionSpec;
  /** Size of one frame of the rendition. */
  size: Size;
  /** Where the whole picture lies; `null`: it fills the rendition. */
  placed: Placement | null;
  /** Whether the rendition is animated. */
  animated: boolean;
  /** Whether `picture` is an intermediate of the original or its edited pixels, not the original itself. */
  indirect: boolean;
  /** Pixels per point of a PDF page that holds them. @default 1 */
  pixelsPerPoint?: number;
  limits: PictureLimits;
}

/** Options of {@link uprightPixels}. */
export interface PixelOptions {
  /** @default the size of the rendition */
  size?: Size;
  /** Whether the pixels are written without transparency: bars are then white instead of transparent. @default false */
  opaque?: boolean;
}

/** A pipeline that begins with the upright pixels of the rendition, cut and with its bars. */
export async function uprightPixels(
  conversion: Conversion,
  { size = conversion.size, opaque = false }: PixelOptions = {},
): Promise<Sharp> {
  const { picture, animated } = conversion;
  // libvips resizes an animation as one tall picture: neighbouring frames would mix at their edges.
  const isAlone = animated && !isSameSize(picture.natural, size);
  const placed = conversion.placed ?? (isAlone ? { ...conversion.size, left: 0, top: 0 } : null);
  const pixels =
    placed === null
      ? resized(await picture.decode({ animated, drawnAs: size }), picture.natural, size)
      : await placedPixels(conversion, scaledPlacement(placed, conversion.size, size), { size, opaque });
  const { background } = conversion.spec;
  if (background === undefined) return pixels;
  // Grey pixels would give grey bars.
  return pixels.pipelineColourspace("srgb").flatten({ background: `#${background}` });
}

/** Whether the rendition is the original at its natural size. */
export function keepsSize({ picture, size, placed, spec, indirect }: Conversion): boolean {
  const isWhole = placed === null && spec.background === undefined;
  return !indirect && isWhole && isSameSize(picture.natural, size);
}

/**
 * Whether a PNG or JPEG shows the same pixels in readers that ignore EXIF orientation, colour profiles and `gAMA`, as
 * PDF and SVG readers do. Such a file is upright, grey or RGB, and sRGB.
 */
export async function isPlainRaster(bytes: Buffer): Promise<boolean> {
  const { format, orientation = 1, channels, space, icc } = await sharp(bytes).metadata();
  if (format === "png" && readPngGamma(bytes) !== null) return false;
  return orientation === 1 && channels <= 4 && space !== "cmyk" && (icc === undefined || isSrgb(icc));
}

/**
 * Whether a profile is sRGB according to its description, which is ASCII in ICC.1 version 2 and UTF-16BE in version 4.
 */
function isSrgb(profile: Buffer): boolean {
  return profile.includes("sRGB") || profile.includes(Buffer.from("sRGB", "utf16le").swap16());
}
