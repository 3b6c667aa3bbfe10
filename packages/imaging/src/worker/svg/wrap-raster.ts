import type { Size } from "@outrigger/core/images";
import { XLINK_NAMESPACE } from "./clean-attribute.ts";
import { MAX_SVG_BYTES } from "./decode-svg-text.ts";
import { SVG_NAMESPACE } from "./svg-writer.ts";

/** Maximum bytes of a raster in an SVG: base64 turns three bytes into four, and the SVG must stay within its limit. */
export const MAX_WRAPPED_BYTES = Math.floor((MAX_SVG_BYTES - 1000) / 4) * 3;

/**
 * An SVG of `size` that embeds a raster unchanged. It uses `xlink:href`, not `href`, because every reader supports it;
 * both would double the bytes.
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
