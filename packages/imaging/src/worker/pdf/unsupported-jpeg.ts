const MARKER = 0xff;
const FIRST_FRAME = 0xc0;
const LAST_FRAME = 0xcf;
/** Markers among those of frames that begin no frame: DHT, JPG and DAC. */
const NO_FRAMES: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc]);
const ARITHMETIC_FROM = 0xc9;
const LOSSLESS: ReadonlySet<number> = new Set([0xc3, 0xc7, 0xcb, 0xcf]);
const HIERARCHICAL: ReadonlySet<number> = new Set([0xc5, 0xc6, 0xcd, 0xce]);
const START_OF_SCAN = 0xda;
const USUAL_BITS = 8;

/**
 * The kind of a JPEG that PDFium draws as one colour; `null` for the usual kinds: sequential or progressive, Huffman
 * coding, 8 bits. Source: ITU-T T.81, annex B.
 */
export function unsupportedJpeg(jpeg: Buffer): string | null {
  let at = 2;
  while (at + 4 < jpeg.length) {
    if (jpeg[at] !== MARKER) return null;
    const marker = jpeg[at + 1] ?? 0;
    if (marker === MARKER) {
      at++;
      continue;
    }
    if (marker === START_OF_SCAN) return null;
    if (marker >= FIRST_FRAME && marker <= LAST_FRAME && !NO_FRAMES.has(marker)) {
      const bits = jpeg[at + 4] ?? 0;
      if (LOSSLESS.has(marker)) return "lossless JPEG";
      if (HIERARCHICAL.has(marker)) return "hierarchical JPEG";
      if (marker >= ARITHMETIC_FROM) return "arithmetic JPEG";
      return bits === USUAL_BITS ? null : `JPEG of ${bits} bits`;
    }
    at += 2 + jpeg.readUInt16BE(at + 2);
  }
  return null;
}
