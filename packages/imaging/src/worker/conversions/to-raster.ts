import { reading } from "../reading.ts";
import { type Conversion, uprightPixels } from "./conversion.ts";
import { type EncodedFormat, encode } from "./encode.ts";

/** A rendition that libvips encodes. */
export async function toRaster(conversion: Conversion, format: EncodedFormat): Promise<Buffer> {
  const { type, spec, size, animated, limits } = conversion;
  const encoded = encode(await uprightPixels(conversion), format, {
    quality: spec.quality ?? "high",
    fromJpeg: type === "image/jpeg",
    animated,
    pixels: size.width * size.height,
  });
  return reading(type, limits, encoded.toBuffer());
}
