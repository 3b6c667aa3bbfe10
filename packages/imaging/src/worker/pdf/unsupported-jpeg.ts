import { isFrame, Marker, readJpegSegments } from "../privacy/jpeg-segments.ts";

const ARITHMETIC_FROM = 0xc9;
const LOSSLESS: ReadonlySet<number> = new Set([0xc3, 0xc7, 0xcb, 0xcf]);
const HIERARCHICAL: ReadonlySet<number> = new Set([0xc5, 0xc6, 0xcd, 0xce]);
const USUAL_BITS = 8;

/**
 * The kind of a JPEG that PDFium draws as one colour; `null` for the usual kinds: sequential or progressive, Huffman
 * coding, 8 bits. Source: ITU-T T.81, annex B.
 */
export function unsupportedJpeg(jpeg: Buffer): string | null {
  for (const { marker, payload } of readJpegSegments(jpeg)) {
    if (marker === Marker.SOS) return null;
    if (!isFrame(marker)) continue;
    if (LOSSLESS.has(marker)) return "lossless JPEG";
    if (HIERARCHICAL.has(marker)) return "hierarchical JPEG";
    if (marker >= ARITHMETIC_FROM) return "arithmetic JPEG";
    const [bits = 0] = payload;
    return bits === USUAL_BITS ? null : `JPEG of ${bits} bits`;
  }
  return null;
}
