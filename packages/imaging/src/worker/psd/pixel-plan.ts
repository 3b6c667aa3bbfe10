import type { PsdHeader } from "./psd-header.ts";
import { sampleFormatOf } from "./sample-format.ts";
import { convertLab, encodeLight } from "./srgb.ts";
import { type TiffLayout, tiffRowBytes } from "./tiff.ts";
import { removeMatteOfBytes, removeMatteOfWords } from "./white-matte.ts";

/** The conversion of a merged picture to a TIFF for libvips. */
export interface PixelPlan {
  layout: TiffLayout;
  /** Channels of the file up to the last needed one. */
  channels: number;
  /** Writes a row of a channel to its place in the TIFF, if the channel is needed. */
  writeRow(pixels: Buffer, channel: number, y: number, source: Buffer, start: number): void;
  /** The steps that need all channels. */
  finish(pixels: Buffer): void;
}

/** The plan for a mode and depth. `alphaIndex`: the place of alpha among the channels after the colours. */
export function planPixels(
  header: PsdHeader,
  alphaIndex: number | null,
  iccProfile: Buffer | null,
): PixelPlan {
  const { width, height, depth, channels } = header;
  const { photometric, bitsPerSample, planar, colours, alpha, encoding } = sampleFormatOf(header);
  const alphaChannel = colours.length + (alphaIndex ?? channels);
  const usedAlpha = alphaChannel < channels ? alpha : null;
  const kinds = usedAlpha === null ? colours : [...colours, usedAlpha];
  const layout: TiffLayout = {
    width,
    height,
    bitsPerSample,
    photometric,
    samplesPerPixel: kinds.length,
    planar,
    alpha: usedAlpha !== null,
    // The profile describes linear light and would be wrong after encoding.
    iccProfile: encoding === "light" ? null : iccProfile,
  };
  const samplesInRow = depth === 1 ? tiffRowBytes(layout) : width;
  return {
    layout,
    channels: usedAlpha === null ? colours.length : alphaChannel + 1,
    writeRow(pixels, channel, y, source, start) {
      if (channel >= colours.length && channel !== alphaChannel) return;
      const sample = Math.min(channel, colours.length);
      const { at, step } = positionOf(layout, sample, y);
      kinds[sample]?.move(source, start, samplesInRow, pixels, at, step);
    },
    finish(pixels) {
      const count = width * height;
      const alphaAt = positionOf(layout, colours.length, 0).at;
      for (const [channel, { white }] of colours.entries()) {
        const run = { pixels, ...positionOf(layout, channel, 0), alphaAt, count };
        if (usedAlpha !== null && bitsPerSample === 8) removeMatteOfBytes(run, white);
        if (usedAlpha !== null && bitsPerSample === 16) removeMatteOfWords(run);
        if (encoding === "light") encodeLight(pixels, run.at, run.step, count);
      }
      if (encoding === "lab") convertLab(pixels, count);
    },
  };
}

/** The position of the first sample of a row, and the distance to the next. */
function positionOf(layout: TiffLayout, channel: number, y: number): { at: number; step: number } {
  const rowBytes = tiffRowBytes(layout);
  const sampleBytes = Math.max(1, layout.bitsPerSample / 8);
  if (layout.planar) return { at: (channel * layout.height + y) * rowBytes, step: sampleBytes };
  return { at: y * rowBytes + channel * sampleBytes, step: layout.samplesPerPixel * sampleBytes };
}
