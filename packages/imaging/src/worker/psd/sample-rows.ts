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

/** 16-bit samples to bytes. */
export const moveHighBytes: MoveSamples = (source, start, count, target, at, step) => {
  let to = at;
  for (let from = start; from < start + count * 2; from += 2, to += step) target[to] = source[from] ?? 0;
};

/** 8-bit inks, inverted: a PSD stores the light that an ink leaves, a TIFF the amount of ink. */
export const invertBytes: MoveSamples = (source, start, count, target, at, step) => {
  let to = at;
  for (let from = start; from < start + count; from++, to += step) target[to] = ~(source[from] ?? 0);
};

/** 16-bit inks, inverted, to bytes. */
export const invertHighBytes: MoveSamples = (source, start, count, target, at, step) => {
  let to = at;
  for (let from = start; from < start + count * 2; from += 2, to += step) target[to] = ~(source[from] ?? 0);
};

/** Floats to 16 bits on a linear scale. Values below black or above white are clipped. */
export const quantizeFloats: MoveSamples = (source, start, count, target, at, step) => {
  const floats = new DataView(source.buffer, source.byteOffset + start, count * 4);
  let to = at;
  for (let from = 0; from < count * 4; from += 4, to += step) {
    const word = toWord(floats.getFloat32(from));
    target[to] = word >> 8;
    target[to + 1] = word & 0xff;
  }
};

/** Floats of linear light to bytes of sRGB. */
export const encodeFloats: MoveSamples = (source, start, count, target, at, step) => {
  const floats = new DataView(source.buffer, source.byteOffset + start, count * 4);
  const bytes = srgbBytes();
  let to = at;
  for (let from = 0; from < count * 4; from += 4, to += step) {
    target[to] = bytes[toWord(floats.getFloat32(from))] ?? 0;
  }
};

/** Floats to bytes on a linear scale. */
export const floatsToBytes: MoveSamples = (source, start, count, target, at, step) => {
  const floats = new DataView(source.buffer, source.byteOffset + start, count * 4);
  let to = at;
  for (let from = 0; from < count * 4; from += 4, to += step) {
    target[to] = toWord(floats.getFloat32(from)) >> 8;
  }
};

/** NaN becomes 0. */
function toWord(value: number): number {
  if (value >= 1) return 0xffff;
  return value > 0 ? Math.round(value * 0xffff) : 0;
}
