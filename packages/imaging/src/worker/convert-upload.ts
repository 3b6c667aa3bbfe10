/// <reference path="./heic-decode.d.ts" />

import type { ConvertibleType, ImageWarning } from "@outrigger/core/images";
import { isServiceError } from "@outrigger/core/values";
import type { DecodedHeic } from "heic-decode";
import sharp, { type Sharp } from "sharp";
import type { PictureLimits } from "../shared/wire.ts";
import { readHeifColours } from "./heif-colours.ts";
import { awaitLibvips } from "./libvips.ts";
import { timingOf } from "./open-picture.ts";
import { damaged, requireFrames, tooManyPixels, unreadable } from "./picture.ts";
import { withProfile } from "./png/png-cicp.ts";
import { createTiff, Photometric } from "./psd/tiff.ts";
import { findTiffPicture } from "./tiff-pages.ts";

/** An upload of another type, as the original that is stored. */
interface Converted {
  bytes: Buffer;
  type: "image/png" | "image/jpeg" | "image/gif";
  warnings: ImageWarning[];
}

/** The loader of each type. A worker blocks all but that of TIFF. */
const LOADERS: Readonly<Record<ConvertibleType, readonly string[]>> = {
  "image/webp": ["VipsForeignLoadWebpBuffer"],
  "image/avif": ["VipsForeignLoadHeifBuffer"],
  "image/tiff": [],
  "image/heic": [],
};

/** The format of each type in sharp. */
const FORMATS: Readonly<Partial<Record<ConvertibleType, string>>> = {
  "image/webp": "webp",
  "image/avif": "heif",
  "image/tiff": "tiff",
};

export function isConvertible(type: string): type is ConvertibleType {
  return Object.hasOwn(LOADERS, type);
}

/** Little loss, because each rendition encodes the picture again. */
const JPEG = { quality: 92, chromaSubsampling: "4:4:4" } as const;

/**
 * Converts an upload: to GIF if it moves, to PNG if it has transparency or no loss, else to JPEG. The result is upright, in sRGB,
 * without metadata, and has 8 bits per channel. Rejects with `unsupported_media` (damaged, or over a limit).
 */
export async function convertUpload(
  bytes: Buffer,
  type: ConvertibleType,
  limits: PictureLimits,
): Promise<Converted> {
  if (type === "image/heic") return convertHeic(bytes, limits);
  const operation = [...LOADERS[type]];
  sharp.unblock({ operation });
  try {
    return await convertRaster(bytes, type, limits);
  } finally {
    sharp.block({ operation });
  }
}

async function convertRaster(
  bytes: Buffer,
  type: ConvertibleType,
  limits: PictureLimits,
): Promise<Converted> {
  const isSequence = type === "image/avif" && bytes.toString("latin1", 8, 12) === "avis";
  // sharp knows only the brand of still pictures.
  if (isSequence) bytes.write("avif", 8, "latin1");
  const tiff = type === "image/tiff" ? findTiffPicture(bytes) : null;
  const options = { failOn: "error", limitInputPixels: limits.maxPixels, ...tiff?.place } as const;
  const metadata = await awaitLibvips(type, limits, sharp(bytes, options).metadata());
  const { format, depth } = metadata;
  const pages = tiff?.pictures ?? metadata.pages ?? 1;
  if (format !== FORMATS[type]) throw unreadable(type, "its bytes are of another format");
  const moves = type === "image/webp" && pages > 1;
  const warnings: ImageWarning[] = [];
  if (depth !== undefined && depth !== "uchar") warnings.push("depth_reduced");
  const colours = type === "image/avif" ? readHeifColours(bytes) : null;
  if (colours?.isHdr) warnings.push("hdr_reduced");
  if ((metadata.exif ?? metadata.xmp ?? metadata.iptc) || tiff?.isPersonal) warnings.push("metadata_removed");
  if (isSequence) warnings.push("first_frame_only");
  else if (!moves && pages > 1) warnings.push("first_page_only");
  if (moves) {
    requireFrames(type, pages, limits);
    const { width, pageHeight = metadata.height } = metadata;
    if (width * pageHeight * pages > limits.maxPixels) throw tooManyPixels(type, limits.maxPixels);
    const animation = sharp(bytes, { ...options, animated: true }).gif(timingOf(metadata));
    warnings.push("colors_reduced");
    return { bytes: await awaitLibvips(type, limits, animation.toBuffer()), type: "image/gif", warnings };
  }
  const upright = (file: Buffer) => sharp(file, { ...options, autoOrient: true });
  const profile = metadata.icc === undefined ? colours?.iccProfile : null;
  // Only a file can carry a profile.
  const png = profile && upright(bytes).toColourspace(metadata.space).png({ compressionLevel: 1 }).toBuffer();
  const shown = upright(profile && png ? withProfile(await awaitLibvips(type, limits, png), profile) : bytes);
  // Without this, sharp converts colours of 16 bits to Display P3 and then takes them for sRGB.
  const isWrong = metadata.space === "rgb16" && Boolean(profile ?? metadata.icc);
  const whole = (isWrong ? shown.withIccProfile("srgb", { attach: false }) : shown).toColourspace("srgb");
  // Many encoders write an alpha channel for pictures without transparency.
  const { isOpaque } = metadata.hasAlpha
    ? await awaitLibvips(type, limits, sharp(bytes, options).stats())
    : { isOpaque: true };
  const image = isOpaque ? whole.removeAlpha() : whole;
  return encode(image, type, { isLossless: !isOpaque || isLossless(bytes, type), limits, warnings });
}

/** TIFF is lossless but for JPEG within; of AVIF, only its pixels would tell. */
function isLossless(bytes: Buffer, type: ConvertibleType): boolean {
  return type === "image/tiff" || (type === "image/webp" && hasChunk(bytes, "VP8L"));
}

/** Whether a WebP has a chunk with this name (RFC 9649 §2.3). */
function hasChunk(bytes: Buffer, name: string): boolean {
  for (let at = 12; at + 8 <= bytes.length; ) {
    if (bytes.toString("latin1", at, at + 4) === name) return true;
    const size = bytes.readUInt32LE(at + 4);
    at += 8 + size + (size % 2);
  }
  return false;
}

async function encode(
  image: Sharp,
  type: ConvertibleType,
  { isLossless, limits, warnings }: { isLossless: boolean; limits: PictureLimits; warnings: ImageWarning[] },
): Promise<Converted> {
  const encoded = isLossless ? image.png() : image.jpeg(JPEG);
  const bytes = await awaitLibvips(type, limits, encoded.toBuffer());
  return { bytes, type: isLossless ? "image/png" : "image/jpeg", warnings };
}

/** Decodes with the optional package heic-decode, which runs in WebAssembly: the photo itself, not its thumbnails or bursts. */
async function convertHeic(bytes: Buffer, limits: PictureLimits): Promise<Converted> {
  const { width, height, data, count } = await readHeic(bytes, limits);
  const alpha = hasTransparency(data);
  const { iccProfile, isHdr } = readHeifColours(bytes);
  const layout = {
    width,
    height,
    bitsPerSample: 8,
    photometric: Photometric.rgb,
    samplesPerPixel: 4,
  } as const;
  // Carries the profile of the photo, which raw pixels cannot.
  const tiff = createTiff({ ...layout, planar: false, alpha: true, iccProfile });
  tiff.pixels.set(data);
  const image = sharp(tiff.file, { limitInputPixels: limits.maxPixels }).toColourspace("srgb");
  const shown = alpha ? image : image.removeAlpha();
  const warnings: ImageWarning[] = [];
  if (isDeepHeic(bytes)) warnings.push("depth_reduced");
  if (isHdr) warnings.push("hdr_reduced");
  if (bytes.includes(EXIF_ITEM)) warnings.push("metadata_removed");
  if (count > 1) warnings.push("first_page_only");
  return encode(shown, "image/heic", { isLossless: alpha, limits, warnings });
}

/** @param data RGBA. */
function hasTransparency(data: Uint8ClampedArray): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return true;
  return false;
}

/** The first picture of a file, as RGBA, and the count of all. */
async function readHeic(bytes: Buffer, limits: PictureLimits): Promise<DecodedHeic & { count: number }> {
  const { default: decoder } = await import("heic-decode");
  try {
    const images = await decoder.all({ buffer: bytes });
    try {
      const [first] = images;
      if (first === undefined) throw new Error("It has no picture");
      const { width, height } = first;
      if (width * height > limits.maxPixels) throw tooManyPixels("image/heic", limits.maxPixels);
      return { ...(await first.decode()), count: images.length };
    } finally {
      images.dispose();
    }
  } catch (error) {
    if (isServiceError(error)) throw error;
    throw damaged(undefined, error);
  }
}

const CODEC_BOX = "hvcC";
/** Place of the depth, less 8, in the lowest three bits of its byte (ISO/IEC 14496-15 §8.3.2.1). */
const DEPTH_OFFSET = CODEC_BOX.length + 17;

/** Whether a picture, or a tile or mask of it, has more than 8 bits per channel. */
function isDeepHeic(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(CODEC_BOX); at >= 0; at = bytes.indexOf(CODEC_BOX, at + 1)) {
    if (((bytes[at + DEPTH_OFFSET] ?? 0) & 7) > 0) return true;
  }
  return false;
}

/** The type of an item and its empty name (ISO/IEC 14496-12 §8.11.6). */
const EXIF_ITEM = "Exif\0";
