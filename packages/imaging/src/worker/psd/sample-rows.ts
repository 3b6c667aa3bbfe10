import type { Depth } from "./psd-header.ts";
import { srgbBytes } from "./srgb.ts";

/**
 * Copies `count` samples from a row of a file to the pixels of a TIFF: the first to byte `at`, each next one `step`
 * bytes further.
 */
export type MoveSamples = (
  source: Buffer,
  start: number,
  count: number,
  target: Buffer,
  at: number,
  step: number,
) => void;

/** 8-bit samples to bytes. */
export const moveBytes: MoveSamples = (source, start, count, target, at, step) => {
  if (step === 1) {
    source.copy(target, at, start, start + count);
    return;
  }
  let to = at;
  for (let from = start; from < start + count; from++, to += step) target[to] = source[from] ?? 0;
};

/** Samples of `stride` bytes to their first byte, with the bits in `mask` inverted. */
function highBytes(stride: 1 | 2, mask: 0 | 0xff): MoveSamples {
  return (source, start, count, target, at, step) => {
    let to = at;
    const end = start + count * stride;
    for (let from = start; from < end; from += stride, to += step) target[to] = (source[from] ?? 0) ^ mask;
  };
}

/** 16-bit samples to bytes. */
export const moveHighBytes = highBytes(2, 0);
/** 8-bit inks, inverted: a PSD stores the light that an ink leaves, a TIFF the amount of ink. */
export const invertBytes = highBytes(1, 0xff);
/** 16-bit inks, inverted, to bytes. */
export const invertHighBytes = highBytes(2, 0xff);

/** Floats on a linear scale of 16 bits. Values below black or above white are clipped. */
function floats(write: (target: Buffer, to: number, word: number) => void): MoveSamples {
  return (source, start, count, target, at, step) => {
    const values = new DataView(source.buffer, source.byteOffset + start, count * 4);
    for (let index = 0; index < count; index++) {
      write(target, at + index * step, toWord(values.getFloat32(index * 4)));
    }
  };
}

/** Floats to 16 bits. */
export const quantizeFloats = floats((target, to, word) => target.writeUInt16BE(word, to));
/** Floats of linear light to bytes of sRGB. */
const encodeFloats = floats((target, to, word) => {
  target[to] = srgbBytes()[word] ?? 0;
});
/** Floats to bytes. */
const floatsToBytes = floats((target, to, word) => {
  target[to] = word >> 8;
});

/** Samples of a layer or a pattern to bytes. @param linear Whether they are linear, as alpha and masks are. */
export function moverTo8Bits(depth: Depth, linear: boolean): MoveSamples {
  if (depth === 32) return linear ? floatsToBytes : encodeFloats;
  return depth === 16 ? moveHighBytes : moveBytes;
}

/** NaN becomes 0. */
function toWord(value: number): number {
  if (value >= 1) return 0xffff;
  return value > 0 ? Math.round(value * 0xffff) : 0;
}
