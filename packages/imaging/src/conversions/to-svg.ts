import { reading } from "../reading.ts";
import { resizeSvg } from "../svg/resize-svg.ts";
import { wrapRaster } from "../svg/wrap-raster.ts";
import { type Conversion, keepsSize, uprightPixels } from "./conversion.ts";
import { encode } from "./encode.ts";
import { isPlainRaster } from "./plain-raster.ts";

/** An SVG at another size, or one that holds the raster: a JPEG as JPEG, a GIF as GIF, anything else as PNG. */
export async function toSvg(conversion: Conversion): Promise<Buffer> {
  const { bytes, type, size } = conversion;
  switch (type) {
    case "image/svg+xml":
      return resizeSvg(bytes, size);
    case "image/jpeg":
      return wrapRaster(await embeddable(conversion, "jpg"), type, size);
    case "image/gif":
      return wrapRaster(await embeddable(conversion, "gif"), type, size);
    default:
      return wrapRaster(await embeddable(conversion, "png"), "image/png", size);
  }
}

/** The original itself where it can be embedded, else its pixels at the rendition's size. */
async function embeddable(conversion: Conversion, format: "png" | "jpg" | "gif"): Promise<Buffer> {
  const { bytes, type, size, animated, limits } = conversion;
  if (keepsSize(conversion)) {
    if (type === "image/gif") return bytes;
    if ((type === "image/png" || type === "image/jpeg") && (await isPlainRaster(bytes))) return bytes;
  }
  const encoded = encode(await uprightPixels(conversion), format, {
    quality: "high",
    fromJpeg: type === "image/jpeg",
    animated,
    pixels: size.width * size.height,
  });
  return reading(type, limits, encoded.toBuffer());
}
