import { stripRaster } from "../privacy/strip-raster.ts";
import { readDataUrl } from "./data-url.ts";

/** Cleans the SVG in a `data:` URL; `undefined` to drop it. */
export type CleanNested = (bytes: Buffer) => Buffer | undefined;

/**
 * The `data:` URL of a picture, rewritten: in base64, with the type that its bytes have. A raster loses its metadata as an
 * upload does, and an SVG is cleaned. `undefined` to drop anything else.
 */
export function cleanPictureUrl(url: string, cleanNested: CleanNested): string | undefined {
  const data = readDataUrl(url);
  if (data === undefined) return undefined;
  // Browsers and librsvg draw a raster of any declared type, but an SVG only as SVG.
  const raster = stripRaster(data.bytes);
  if (raster !== undefined) return dataUrl(raster.type, raster.bytes);
  const nested = data.type === "image/svg+xml" ? cleanNested(data.bytes) : undefined;
  return nested === undefined ? undefined : dataUrl("image/svg+xml", nested);
}

/** A `data:` URL in base64, as in a clean document. */
export function dataUrl(type: string, bytes: Buffer): string {
  return `data:${type};base64,${bytes.toString("base64")}`;
}
