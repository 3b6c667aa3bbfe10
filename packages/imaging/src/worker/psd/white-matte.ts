/** Samples of one kind among the pixels of a picture: `count` of them, `step` bytes from one to the next. */
export interface SampleRun {
  pixels: Buffer;
  /** Position of the first sample. */
  at: number;
  /** Position of the first sample of alpha, which has the same step. */
  alphaAt: number;
  step: number;
  count: number;
}

/**
 * Photoshop merges onto white. Gives bytes the value back that they had before: `matte` is what white is in them. Where
 * alpha is 0 nothing is left to be restored.
 */
export function removeMatteOfBytes({ pixels, at, alphaAt, step, count }: SampleRun, matte: number): void {
  const restored = tabulateRestored(matte);
  for (let index = 0; index < count * step; index += step) {
    const alpha = pixels[alphaAt + index] ?? 0;
    pixels[at + index] = restored[(alpha << 8) | (pixels[at + index] ?? 0)] ?? 0;
  }
}

/** By alpha and matted value. */
function tabulateRestored(matte: number): Uint8Array {
  const table = new Uint8Array(0x10000);
  for (let index = 0; index < table.length; index++) {
    const alpha = index >> 8;
    const matted = index & 0xff;
    table[index] = alpha === 0 ? matted : clamp(matte + ((matted - matte) * 255) / alpha, 255);
  }
  return table;
}

/** The same for 16 bits, of which white is the largest. */
export function removeMatteOfWords({ pixels, at, alphaAt, step, count }: SampleRun): void {
  for (let index = 0; index < count * step; index += step) {
    const alpha = wordAt(pixels, alphaAt + index);
    if (alpha === 0 || alpha === 0xffff) continue;
    const matted = wordAt(pixels, at + index);
    const word = clamp(0xffff + ((matted - 0xffff) * 0xffff) / alpha, 0xffff);
    pixels[at + index] = word >> 8;
    pixels[at + index + 1] = word & 0xff;
  }
}

function wordAt(pixels: Buffer, position: number): number {
  return ((pixels[position] ?? 0) << 8) | (pixels[position + 1] ?? 0);
}

function clamp(value: number, most: number): number {
  if (value <= 0) return 0;
  return value >= most ? most : Math.round(value);
}
