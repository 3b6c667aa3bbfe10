import type { OriginalType } from "@outrigger/core/images";
import type { PictureLimits } from "../../shared/wire.ts";
import { repairGif } from "./repair-gif.ts";
import { repairJpeg } from "./repair-jpeg.ts";
import { repairPng } from "./repair-png.ts";

const SIGNATURES: Partial<Record<OriginalType, string>> = {
  "image/jpeg": "\xff\xd8",
  "image/png": "\x89PNG\r\n\x1a\n",
  "image/gif": "GIF8",
};

/**
 * A readable copy of a raster that libvips rejects or decodes with warnings, though browsers show it; `bytes` itself if
 * it needs no change; `null` if nothing can be repaired. Rejects with `unsupported_media` for a file that misses more
 * than a tenth of its rows.
 */
export async function repairRaster(
  bytes: Buffer,
  type: OriginalType,
  limits: PictureLimits,
): Promise<Buffer | null> {
  if (!hasSignature(bytes, type)) return null;
  switch (type) {
    case "image/jpeg":
      return repairJpeg(bytes, limits);
    case "image/png":
      return repairPng(bytes, limits);
    case "image/gif":
      return repairGif(bytes, limits);
    default:
      return null;
  }
}

/** Other bytes are a file of another type, not a damaged one. */
function hasSignature(bytes: Buffer, type: OriginalType): boolean {
  const signature = SIGNATURES[type];
  return signature !== undefined && bytes.toString("latin1", 0, signature.length) === signature;
}
