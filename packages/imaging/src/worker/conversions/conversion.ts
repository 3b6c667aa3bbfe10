import type { OriginalType, RenditionSpec, Size } from "@outrigger/core";
import sharp, { type Sharp } from "sharp";
import type { PictureLimits } from "../../shared/wire.ts";
import type { Picture } from "../picture.ts";
import { readPngGamma } from "../png/png-gamma.ts";

/** The conversion of one original to one rendition. */
export interface Conversion {
  /** The original file. */
  bytes: Buffer;
  type: OriginalType;
  picture: Picture;
  spec: RenditionSpec;
  /** Size of one frame of the rendition. */
  size: Size;
  /** Whether the rendition is animated. */
  animated: boolean;
  /** Whether `picture` is an intermediate of the original, not the original itself. */
  indirect: boolean;
  limits: PictureLimits;
}

/** A pipeline that begins with the upright pixels at the rendition's size, or at `size`. */
export async function uprightPixels(
  { picture, size, animated }: Conversion,
  { size: wanted = size, animated: moving = animated } = {},
): Promise<Sharp> {
  const image = await picture.decode({ animated: moving, drawnAs: wanted });
  return isSameSize(picture.natural, wanted) ? image : image.resize({ ...wanted, fit: "fill" });
}

/** Whether the picture is the original at its natural size. */
export function keepsSize({ picture, size, indirect }: Conversion): boolean {
  return !indirect && isSameSize(picture.natural, size);
}

function isSameSize(a: Size, b: Size): boolean {
  return a.width === b.width && a.height === b.height;
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
