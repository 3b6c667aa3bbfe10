import { isServiceError } from "@outrigger/core";
import { stripGif } from "./strip-gif.ts";
import { stripJpeg } from "./strip-jpeg.ts";
import { stripPng } from "./strip-png.ts";
import { stripWebp } from "./strip-webp.ts";

type RasterType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/**
 * A raster that is part of another file, without its metadata, and its type by its first bytes. `undefined` for bytes
 * that are not a PNG, JPEG, GIF or WebP, or have no readable structure.
 */
export function stripRaster(bytes: Buffer): { type: RasterType; bytes: Buffer } | undefined {
  const type = rasterType(bytes);
  if (type === undefined) return undefined;
  if (type === "image/webp") return { type, bytes: stripWebp(bytes) };
  try {
    return { type, bytes: Buffer.concat(strip(bytes, type) ?? [bytes]) };
  } catch (error) {
    if (isServiceError(error, "unsupported_media")) return undefined;
    throw error;
  }
}

function strip(bytes: Buffer, type: Exclude<RasterType, "image/webp">): readonly Buffer[] | null {
  if (type === "image/png") return stripPng(bytes);
  // Readers draw the part of a GIF that came.
  return type === "image/gif" ? stripGif(bytes, { allowCut: true }) : stripJpeg(bytes);
}

function rasterType(bytes: Buffer): RasterType | undefined {
  const head = bytes.toString("latin1", 0, 12);
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  return /^RIFF[\s\S]{4}WEBP/.test(head) ? "image/webp" : undefined;
}
