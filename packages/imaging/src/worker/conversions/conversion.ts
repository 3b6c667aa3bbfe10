import type { OriginalType, RenditionSpec, Size } from "@outrigger/core";
import sharp, { type Sharp } from "sharp";
import type { PictureLimits } from "../../shared/wire.ts";
import type { Picture } from "../picture.ts";

/** One original on its way to one rendition. */
export interface Conversion {
  /** The original file. */
  bytes: Buffer;
  type: OriginalType;
  picture: Picture;
  spec: RenditionSpec;
  /** Of the rendition, one frame of it. */
  size: Size;
  /** Whether the rendition moves. */
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
 * Whether a PNG or JPEG means the same pixels to readers that know neither EXIF orientation nor colour profiles, as
 * those of PDF and SVG do: upright, grey or RGB, sRGB.
 */
export async function isPlainRaster(bytes: Buffer): Promise<boolean> {
  const { orientation = 1, channels, space, icc } = await sharp(bytes).metadata();
  return orientation === 1 && channels <= 4 && space !== "cmyk" && (icc === undefined || isSrgb(icc));
}

/** By its description, which is ASCII in version 2 of ICC.1 and UTF-16BE in version 4. */
function isSrgb(profile: Buffer): boolean {
  return profile.includes("sRGB") || profile.includes(Buffer.from("sRGB", "utf16le").swap16());
}
