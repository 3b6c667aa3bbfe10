import { stripRaster } from "../privacy/strip-raster.ts";

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

/** The content of a `data:` URL. */
interface DataUrl {
  /** The media type in lower case, without parameters. It may be empty or wrong. */
  type: string;
  bytes: Buffer;
}

const DATA_URL = /^data:([^,#]*),([^#]*)/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const PERCENT = "%".charCodeAt(0);

/**
 * Reads a `data:` URL as browsers do: in base64 or with percent escapes, with any parameters, and without its fragment.
 * `undefined` for other addresses and for damaged base64.
 *
 * Source: Fetch Standard, `data:` URLs; Infra Standard, forgiving base64.
 */
function readDataUrl(url: string): DataUrl | undefined {
  const [, header, content] = DATA_URL.exec(url) ?? [];
  if (header === undefined || content === undefined) return undefined;
  const type = (header.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (!/;\s*base64\s*$/i.test(header)) {
    return { type, bytes: percentDecoded(Buffer.from(content.replace(/[\t\n\r]/g, ""))) };
  }
  const unescaped = content.includes("%") ? percentDecoded(Buffer.from(content)).toString("latin1") : content;
  const digits = unescaped.replace(/\s+/g, "");
  const isBase64 = BASE64.test(digits) && digits.replace(/=+$/, "").length % 4 !== 1;
  return isBase64 ? { type, bytes: Buffer.from(digits, "base64") } : undefined;
}

/** Decodes percent escapes in place. Other percent signs stay. */
export function percentDecoded(bytes: Buffer): Buffer {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const digits = bytes[at] === PERCENT ? bytes.toString("latin1", at + 1, at + 3) : "";
    const isEscape = /^[\da-f]{2}$/i.test(digits);
    // The index is within the buffer.
    bytes[length++] = isEscape ? Number.parseInt(digits, 16) : (bytes[at] as number);
    if (isEscape) at += 2;
  }
  return bytes.subarray(0, length);
}
