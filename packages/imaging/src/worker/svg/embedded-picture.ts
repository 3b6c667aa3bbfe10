import { readDataUrl } from "./data-url.ts";

/** Cleans the SVG in a `data:` URL; `undefined` to drop it. */
export type CleanNested = (bytes: Buffer) => Buffer | undefined;

/**
 * The `data:` URL of a picture, rewritten: in base64, with the type that its bytes have. A raster is kept, and an SVG is
 * cleaned. `undefined` to drop anything else.
 */
export function cleanPictureUrl(url: string, cleanNested: CleanNested): string | undefined {
  const data = readDataUrl(url);
  if (data === undefined) return undefined;
  // Browsers and librsvg draw a raster of any declared type, but an SVG only as SVG.
  const raster = rasterType(data.bytes);
  if (raster !== undefined) return dataUrl(raster, data.bytes);
  const nested = data.type === "image/svg+xml" ? cleanNested(data.bytes) : undefined;
  return nested === undefined ? undefined : dataUrl("image/svg+xml", nested);
}

/** A `data:` URL in base64, as in a clean document. */
export function dataUrl(type: string, bytes: Buffer): string {
  return `data:${type};base64,${bytes.toString("base64")}`;
}

/** The type of a PNG, JPEG, GIF or WebP by its first bytes. */
function rasterType(bytes: Buffer): string | undefined {
  const head = bytes.toString("latin1", 0, 12);
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  return /^RIFF[\s\S]{4}WEBP/.test(head) ? "image/webp" : undefined;
}
