import type { Size } from "@outrigger/core";
import { XLINK_NAMESPACE } from "./clean-attribute.ts";
import { MAX_SVG_BYTES } from "./decode-svg-text.ts";
import { SVG_NAMESPACE } from "./svg-writer.ts";

/** Bytes of a raster above which the SVG that holds it is more than an SVG may be: base64 makes four of three. */
export const MAX_WRAPPED_BYTES = Math.floor((MAX_SVG_BYTES - 1000) / 4) * 3;

/**
 * An SVG of `size` that shows a raster, which is in it as it is. The picture is an `xlink:href`, not an `href`: every
 * reader knows that one, and twice would be twice the bytes.
 */
export function wrapRaster(
  bytes: Buffer,
  mediaType: "image/png" | "image/jpeg" | "image/gif",
  { width, height }: Size,
): Buffer {
  const sides = `width="${width}" height="${height}"`;
  const namespaces = `xmlns="${SVG_NAMESPACE}" xmlns:xlink="${XLINK_NAMESPACE}"`;
  const start = `<svg ${namespaces} ${sides} viewBox="0 0 ${width} ${height}"><image ${sides} preserveAspectRatio="none" xlink:href="data:${mediaType};base64,`;
  return Buffer.concat([
    Buffer.from(start),
    Buffer.from(bytes.toString("base64"), "latin1"),
    Buffer.from('"/></svg>'),
  ]);
}
