import type { ColourMode, Depth, PsdHeader } from "./psd-header.ts";
import {
  invertBytes,
  invertHighBytes,
  type MoveSamples,
  moveBytes,
  moveHighBytes,
  quantizeFloats,
} from "./sample-rows.ts";
import { Photometric, type TiffLayout } from "./tiff.ts";

/** How the samples of one channel become those of a TIFF. */
export interface SampleKind {
  move: MoveSamples;
  /** The value of white in the TIFF. */
  white: number;
}

/** How the pixels of a merged picture become those of a TIFF. */
export interface SampleFormat extends Pick<TiffLayout, "bitsPerSample" | "photometric" | "planar"> {
  /** One for each channel of the colour. */
  colours: readonly SampleKind[];
  alpha: SampleKind | null;
  /** The encoding of the colours in the file: one that libvips reads, Lab, or 16-bit linear light. */
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

// 16 bits become 8, which is what is served: sharp does not apply the profile of 16-bit grey, and that of 16-bit RGB
// only in part.
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

/** The format of every mode but indexed, which needs its palette. */
export function sampleFormatOf({ mode, depth, channels }: PsdHeader): SampleFormat {
  const found = formatsOf(mode, channels)[depth];
  // The header admits no combination that has none.
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
      // Inks that are not named: four come of CMYK, three of RGB, whose complements they are. Of fewer the first is shown.
      if (channels >= 4) return cmyk;
      return channels === 3 ? rgb : grey;
    default:
      // A duotone is held as the grey that it is printed from; what its inks make of that is not documented.
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
    // As it is stored, but libvips misreads grey with alpha unless it comes pixel by pixel.
    planar: photometric === "rgb" || photometric === "inks",
    colours,
    alpha,
    encoding: "final",
  };
}
