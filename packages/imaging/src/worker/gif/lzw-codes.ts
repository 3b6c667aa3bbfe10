/** Codes are at most 12 bits long. */
const MAX_CODES = 4096;
/** Colours have at most 8 bits. */
const MAX_MIN_CODE_BITS = 8;

/**
 * Walks the codes of a frame up to its end, its last pixel or its first fault, without decoding its pixels. With `replace`, each code
 * that stands for colour `from` is overwritten with the code for `to`. Longer strings follow, because decoders build them from these.
 *
 * Source: GIF89a specification, appendix F.
 * @param codes The frame's sub-blocks, joined.
 * @returns for each colour index whether a pixel has it: every index in the output was first coded as itself.
 */
export function walkLzwCodes(
  codes: Buffer,
  minCodeBits: number,
  expected: number,
  replace?: { from: number; to: number },
): Uint8Array {
  const clear = minCodeBits > 0 && minCodeBits <= MAX_MIN_CODE_BITS ? 1 << minCodeBits : 0;
  const used = new Uint8Array(256);
  /** Pixels of each string. */
  const lengths = new Uint32Array(MAX_CODES).fill(1, 0, clear);
  let [next, codeBits, previous] = [clear + 2, minCodeBits + 1, 0];
  let [pixels, bits] = [0, 0];
  const end = codes.length * 8;
  while (pixels < expected) {
    if (clear === 0 || bits + codeBits > end) break;
    const at = bits >> 3;
    const window = (codes[at] ?? 0) | ((codes[at + 1] ?? 0) << 8) | ((codes[at + 2] ?? 0) << 16);
    const code = (window >> (bits & 7)) & ((1 << codeBits) - 1);
    if (code === clear + 1) break;
    if (code === clear) {
      bits += codeBits;
      [next, codeBits, previous] = [clear + 2, minCodeBits + 1, 0];
      continue;
    }
    if (code > next || (code >= clear && previous === 0) || (code === next && next === MAX_CODES)) {
      break;
    }
    if (code < clear) {
      used[code] = 1;
      if (code === replace?.from) overwrite(codes, bits, codeBits, replace.to);
    }
    bits += codeBits;
    if (previous > 0 && next < MAX_CODES) {
      lengths[next++] = previous + 1;
      if (next === 1 << codeBits && codeBits < 12) codeBits++;
    }
    previous = lengths[code] ?? 0;
    pixels += previous;
  }
  return used;
}

function overwrite(codes: Buffer, bits: number, codeBits: number, code: number): void {
  for (let bit = 0; bit < codeBits; bit++) {
    const at = bits + bit;
    const mask = 1 << (at & 7);
    const byte = codes[at >> 3] ?? 0;
    codes[at >> 3] = (code >> bit) & 1 ? byte | mask : byte & ~mask;
  }
}
