import type { ColourMode, Depth, PsdHeader } from "./psd-header.ts";
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
  /** Whether the colours are Lab, which is converted. */
  lab: boolean;
}

type FormatByDepth = Partial<Record<Depth, SampleFormat>>;

const bytes: SampleKind = { move: moveBytes, white: 0xff };
const highBytes: SampleKind = { move: moveHighBytes, white: 0xff };
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
};
const rgb: FormatByDepth = {
  8: format("rgb", 8, [bytes, bytes, bytes], bytes),
  16: format("rgb", 8, [highBytes, highBytes, highBytes], highBytes),
};
const cmyk: FormatByDepth = {
  8: format("inks", 8, [inks, inks, inks, inks], bytes),
  16: format("inks", 8, [highInks, highInks, highInks, highInks], highBytes),
};
const lab: FormatByDepth = {
  8: { ...format("rgb", 8, [bytes, opponents, opponents], bytes), lab: true },
  16: { ...format("rgb", 8, [highBytes, highOpponents, highOpponents], highBytes), lab: true },
};

/** The format of every mode except indexed, which needs its palette. */
export function sampleFormatOf({ mode, depth }: PsdHeader): SampleFormat {
  const found = formatsOf(mode)[depth];
  // The header check admits only combinations in the table.
  if (found === undefined) throw new TypeError(`No format for ${mode} of ${depth} bits`);
  return found;
}

function formatsOf(mode: ColourMode): FormatByDepth {
  switch (mode) {
    case "bitmap":
      return bitmap;
    case "rgb":
      return rgb;
    case "cmyk":
      return cmyk;
    case "lab":
      return lab;
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
    lab: false,
  };
}
