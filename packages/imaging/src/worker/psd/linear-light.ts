let words: Uint16Array | null = null;
let bytes: Uint8Array | null = null;

/** The sRGB encoding of each of 65,536 steps of light, in 16 bits. Source: IEC 61966-2-1, 5.2. */
function srgbWords(): Uint16Array {
  words ??= tabulate();
  return words;
}

/** The same in 8 bits. */
export function srgbBytes(): Uint8Array {
  bytes ??= Uint8Array.from(srgbWords(), (word) => Math.round(word / 257));
  return bytes;
}

/** Replaces big-endian 16-bit linear light by its sRGB encoding, in `count` samples that are `step` bytes apart. */
export function encodeLight(pixels: Buffer, at: number, step: number, count: number): void {
  const encodings = srgbWords();
  for (let position = at; position < at + count * step; position += step) {
    const word = encodings[((pixels[position] ?? 0) << 8) | (pixels[position + 1] ?? 0)] ?? 0;
    pixels[position] = word >> 8;
    pixels[position + 1] = word & 0xff;
  }
}

function tabulate(): Uint16Array {
  const encodings = new Uint16Array(0x10000);
  for (let step = 0; step < encodings.length; step++) {
    const light = step / 0xffff;
    const encoded = light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055;
    encodings[step] = Math.round(encoded * 0xffff);
  }
  return encodings;
}
