import type { ColourMode, Depth, PsdHeader } from "./psd-header.ts";
import { srgbBytes } from "./srgb.ts";
import { Photometric, type TiffLayout } from "./tiff.ts";

/**
 * Copies `count` samples from a row of a file to the pixels of a TIFF: the first to byte `at`, each next one `step`
 * bytes further.
 */
type MoveSamples = (
  source: Buffer,
  start: number,
  count: number,
  target: Buffer,
  at: number,
  step: number,
) => void;

/** 8-bit samples to bytes. */
const moveBytes: MoveSamples = (source, start, count, target, at, step) => {
  if (step === 1) {
    source.copy(target, at, start, start + count);
    return;
  }
  let to = at;
  for (let from = start; from < start + count; from++, to += step) target[to] = source[from] ?? 0;
};

/** Samples of `stride` bytes to their first byte, with the bits in `mask` inverted. */
function byteMover(stride: 1 | 2, mask: 0 | 0xff): MoveSamples {
  return (source, start, count, target, at, step) => {
    let to = at;
    const end = start + count * stride;
    for (let from = start; from < end; from += stride, to += step) target[to] = (source[from] ?? 0) ^ mask;
  };
}

/** 16-bit samples to bytes. */
const moveHighBytes = byteMover(2, 0);
/** 8-bit inks, inverted: a PSD stores the light that an ink leaves, a TIFF the amount of ink. */
const invertBytes = byteMover(1, 0xff);
/** 16-bit inks, inverted, to bytes. */
const invertHighBytes = byteMover(2, 0xff);

/** Floats on a linear scale of 16 bits. Values below black or above white are clipped. */
function floatMover(write: (target: Buffer, to: number, word: number) => void): MoveSamples {
  return (source, start, count, target, at, step) => {
    const values = new DataView(source.buffer, source.byteOffset + start, count * 4);
    for (let index = 0; index < count; index++) {
      write(target, at + index * step, toWord(values.getFloat32(index * 4)));
    }
  };
}

/** Floats to 16 bits. */
const quantizeFloats = floatMover((target, to, word) => target.writeUInt16BE(word, to));
/** Floats of linear light to bytes of sRGB. */
const encodeFloats = floatMover((target, to, word) => {
  target[to] = srgbBytes()[word] ?? 0;
});
/** Floats to bytes. */
const floatsToBytes = floatMover((target, to, word) => {
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

/** The conversion of the samples of one channel to those of a TIFF. */
interface SampleKind {
  move: MoveSamples;
  /** The value of white in the TIFF. */
  white: number;
}

/** The conversion of the pixels of a merged picture to those of a TIFF. */
interface SampleFormat extends Pick<TiffLayout, "bitsPerSample" | "photometric" | "planar"> {
  /** One per colour channel. */
  colours: readonly SampleKind[];
  alpha: SampleKind | null;
  /**
   * The encoding of the colours in the file: `final` is read by libvips; `lab` and `light` (16-bit linear light) are
   * converted.
   */
  encoding: "final" | "lab" | "light";
}

type FormatByDepth = Partial<Record<Depth, SampleFormat>>;

const bytes: SampleKind = { move: moveBytes, white: 0xff };
const highBytes: SampleKind = { move: moveHighBytes, white: 0xff };
const floats: SampleKind = { move: quantizeFloats, white: 0xffff };
const inks: SampleKind = { move: invertBytes, white: 0 };
const highInks: SampleKind = { move: invertHighBytes, white: 0 };
/** The a and b of Lab. */
const opponents: SampleKind = { move: moveBytes, white: 0x80 };
const highOpponents: SampleKind = { move: moveHighBytes, white: 0x80 };

// 16-bit samples become 8-bit, the depth of renditions. sharp does not apply profiles to 16-bit grey, and only in part
// to 16-bit RGB.
const bitmap: FormatByDepth = { 1: format("whiteIsZero", 1, [bytes], null) };
const grey: FormatByDepth = {
  8: format("blackIsZero", 8, [bytes], bytes),
  16: format("blackIsZero", 8, [highBytes], highBytes),
  32: { ...format("blackIsZero", 16, [floats], floats), encoding: "light" },
};
const rgb: FormatByDepth = {
  8: format("rgb", 8, [bytes, bytes, bytes], bytes),
  16: format("rgb", 8, [highBytes, highBytes, highBytes], highBytes),
  32: { ...format("rgb", 16, [floats, floats, floats], floats), encoding: "light" },
};
const cmyk: FormatByDepth = {
  8: format("inks", 8, [inks, inks, inks, inks], bytes),
  16: format("inks", 8, [highInks, highInks, highInks, highInks], highBytes),
};
const lab: FormatByDepth = {
  8: { ...format("rgb", 8, [bytes, opponents, opponents], bytes), encoding: "lab" },
  16: { ...format("rgb", 8, [highBytes, highOpponents, highOpponents], highBytes), encoding: "lab" },
};

/** The format of every mode except indexed, which needs its palette. */
export function sampleFormatOf({ mode, depth, channels }: PsdHeader): SampleFormat {
  const found = formatsOf(mode, channels)[depth];
  // The header check admits only combinations in the table.
  if (found === undefined) throw new TypeError(`No format for ${mode} of ${depth} bits`);
  return mode === "multichannel" ? { ...found, alpha: null } : found;
}

function formatsOf(mode: ColourMode, channels: number): FormatByDepth {
  switch (mode) {
    case "bitmap":
      return bitmap;
    case "rgb":
      return rgb;
    case "cmyk":
      return cmyk;
    case "lab":
      return lab;
    case "multichannel":
      // The inks have no names. Four come from CMYK; three are the complements of RGB. Of fewer, the first is shown.
      if (channels >= 4) return cmyk;
      return channels === 3 ? rgb : grey;
    default:
      // A duotone is stored as the grey that it is printed from. How its inks change that is not documented.
      return grey;
  }
}

function format(
  photometric: keyof typeof Photometric,
  bitsPerSample: TiffLayout["bitsPerSample"],
  colours: readonly SampleKind[],
  alpha: SampleKind | null,
): SampleFormat {
  return {
    photometric: Photometric[photometric],
    bitsPerSample,
    // Planar, as stored, except grey: libvips misreads grey with alpha unless it is interleaved.
    planar: photometric === "rgb" || photometric === "inks",
    colours,
    alpha,
    encoding: "final",
  };
}
