import type { Size } from "@outrigger/core/images";
import { awaitLibvips } from "../libvips.ts";
import { encodeAutomatically } from "./auto-quality.ts";
import { type Conversion, uprightPixels } from "./conversion.ts";
import { type EncodedFormat, encode, HIGH } from "./encode.ts";
import { withGainMap } from "./with-gain-map.ts";

/** A rendition that libvips encodes. */
export async function toRaster(conversion: Conversion, format: EncodedFormat): Promise<Buffer> {
  const encoded = await encodedPixels(conversion, format, conversion.size);
  return format === "jpg" ? withGainMap(conversion, encoded) : encoded;
}

/** The pixels of a rendition at `size`, encoded. */
export async function encodedPixels(
  conversion: Conversion,
  format: EncodedFormat,
  size: Size,
): Promise<Buffer> {
  const { type, picture, spec, animated, limits } = conversion;
  const { quality = "high", background } = spec;
  const image = await uprightPixels(conversion, { size, opaque: format === "jpg" });
  const { timing } = picture;
  const pixels = size.width * size.height;
  const facts = { fromJpeg: type === "image/jpeg", animated, pixels, background, timing };
  if (quality === "auto" && isLossy(format)) {
    return encodeAutomatically(image, format, facts, { type, limits, size });
  }
  const encoded = encode(image, format, { ...facts, quality: quality === "auto" ? "high" : quality });
  return awaitLibvips(type, limits, encoded.toBuffer());
}

function isLossy(format: EncodedFormat): format is keyof typeof HIGH {
  return Object.hasOwn(HIGH, format);
}
