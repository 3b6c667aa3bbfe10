import sharp from "sharp";

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
