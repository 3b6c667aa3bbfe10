import type { Size } from "@outrigger/core/images";
import { awaitLibvips } from "../libvips.ts";
import { resizeSvg } from "../svg/resize-svg.ts";
import { MAX_WRAPPED_BYTES, wrapRaster } from "../svg/svg-writer.ts";
import { type Conversion, isPlainRaster, keepsSize } from "./conversion.ts";
import { encodedPixels } from "./to-raster.ts";

/** A raster to embed in an SVG. */
interface Raster {
  bytes: Buffer;
  mediaType: "image/png" | "image/jpeg" | "image/gif";
}

const MEDIA_TYPES = { png: "image/png", jpg: "image/jpeg", gif: "image/gif" } as const;

/** Shrinks a little below the size that should fit, because the compression ratio varies with the size. */
const SHRINK_MARGIN = 0.9;

/**
 * An SVG at another size, or one that holds the raster: a JPEG as JPEG, a GIF as GIF, anything else as PNG. If the SVG
 * would exceed the size that readers accept, an opaque raster becomes JPEG. If that is still too large, it gets fewer
 * pixels.
 */
export async function toSvg(conversion: Conversion): Promise<Buffer> {
  const { bytes, type, picture, size } = conversion;
  if (type === "image/svg+xml") return resizeSvg(bytes, size, picture.natural);
  const raster = await fittingRaster(conversion);
  return wrapRaster(raster.bytes, raster.mediaType, size);
}

async function fittingRaster(conversion: Conversion): Promise<Raster> {
  const { type, size } = conversion;
  const raster = await preferredRaster(conversion);
  // Only browsers draw a GIF in an SVG, and they accept any length.
  if (raster.bytes.length <= MAX_WRAPPED_BYTES || type === "image/gif") return raster;
  const format = (await isOpaque(conversion)) ? "jpg" : "png";
  let fitting = await encodedRaster(conversion, format, size);
  for (let scale = 1; fitting.bytes.length > MAX_WRAPPED_BYTES; ) {
    scale *= SHRINK_MARGIN * Math.min(1, Math.sqrt(MAX_WRAPPED_BYTES / fitting.bytes.length));
    fitting = await encodedRaster(conversion, format, {
      width: Math.max(1, Math.round(size.width * scale)),
      height: Math.max(1, Math.round(size.height * scale)),
    });
  }
  return fitting;
}

/** The original itself if it can be embedded, else its pixels at the rendition's size. */
async function preferredRaster(conversion: Conversion): Promise<Raster> {
  const { bytes, type } = conversion;
  if (keepsSize(conversion)) {
    if (type === "image/gif") return { bytes, mediaType: type };
    if ((type === "image/png" || type === "image/jpeg") && (await isPlainRaster(bytes))) {
      return { bytes, mediaType: type };
    }
  }
  const format = type === "image/jpeg" ? "jpg" : type === "image/gif" ? "gif" : "png";
  return encodedRaster(conversion, format, conversion.size);
}

async function encodedRaster(
  conversion: Conversion,
  format: keyof typeof MEDIA_TYPES,
  size: Size,
): Promise<Raster> {
  return { bytes: await encodedPixels(conversion, format, size), mediaType: MEDIA_TYPES[format] };
}

async function isOpaque({ picture, placed, size, spec, type, limits }: Conversion): Promise<boolean> {
  if (spec.background !== undefined) return true;
  if (placed !== null && (placed.width < size.width || placed.height < size.height)) return false;
  const image = await picture.decode({ drawnAs: size });
  return (await awaitLibvips(type, limits, image.stats())).isOpaque;
}
