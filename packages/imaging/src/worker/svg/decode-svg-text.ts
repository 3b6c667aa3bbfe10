import { TextDecoder } from "node:util";
import { gunzipSync } from "node:zlib";
import { damaged, unreadable } from "../picture.ts";

const TYPE = "image/svg+xml";

/** Maximum bytes of an SVG, both unpacked and cleaned. Some XML parsers have the same limit for an attribute. */
export const MAX_SVG_BYTES = 10_000_000;

/** An XML declaration ends within this many bytes. */
const XML_DECLARATION_WITHIN = 256;

/**
 * The text of an SVG, which may be gzipped. It is in UTF-8, in UTF-16 with or without a byte order mark, or in the
 * encoding that its XML declaration names. Throws `unsupported_media`.
 *
 * Source: XML 1.0, appendix F; RFC 1952 for gzip.
 */
export function decodeSvgText(bytes: Buffer): string {
  const unpacked = isGzip(bytes) ? unpack(bytes) : bytes;
  if (unpacked.length === 0) throw unreadable(TYPE, "it is empty");
  if (unpacked.length > MAX_SVG_BYTES) throw tooLarge();
  const decoder = createDecoder(encodingOf(unpacked));
  try {
    return decoder.decode(unpacked);
  } catch (cause) {
    // The decoder throws a TypeError for bytes that are invalid in the encoding.
    if (!(cause instanceof TypeError)) throw cause;
    throw unreadable(TYPE, `its text is not ${decoder.encoding.toUpperCase()}`, cause);
  }
}

/** The `unsupported_media` error for more than {@link MAX_SVG_BYTES}. */
export function tooLarge() {
  return unreadable(TYPE, `it is more than ${MAX_SVG_BYTES / 1_000_000} MB of text`);
}

export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function unpack(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_SVG_BYTES });
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge();
    throw damaged("it cannot be decompressed", cause);
  }
}

/** The encoding, by the byte order mark, by the bytes of `<`, or by the XML declaration. */
function encodingOf(bytes: Buffer): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return "UTF-16LE";
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return "UTF-16BE";
  const start = bytes.toString("latin1", 0, XML_DECLARATION_WITHIN);
  const named = /^<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(start)?.[1];
  // A declaration that reads as ASCII is not in a two-byte encoding, whatever it declares.
  return named === undefined || /^(utf-?16|ucs-?2|iso-10646-ucs-2|unicode)/i.test(named) ? "UTF-8" : named;
}

/** Unknown names are read as UTF-8, as browsers do. */
function createDecoder(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding, { fatal: true });
  } catch {
    return new TextDecoder("UTF-8", { fatal: true });
  }
}
