import { type PsdHeader, unreadablePsd } from "./psd-header.ts";
import { sampleFormatOf } from "./sample-rows.ts";
import { convertLab } from "./srgb.ts";
import { Photometric, type TiffLayout, tiffRowBytes } from "./tiff.ts";

/** The conversion of a merged picture to a TIFF for libvips. */
interface PixelPlan {
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
  const { photometric, bitsPerSample, planar, colours, alpha, lab } = sampleFormatOf(header);
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
    iccProfile,
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
        if (usedAlpha !== null)
          removeMatte({ pixels, ...positionOf(layout, channel, 0), alphaAt, count }, white);
      }
      if (lab) convertLab(pixels, count);
    },
  };
}

/** The position of the first sample of a row, and the distance to the next. */
function positionOf(layout: TiffLayout, channel: number, y: number): { at: number; step: number } {
  const rowBytes = tiffRowBytes(layout);
  if (layout.planar) return { at: (channel * layout.height + y) * rowBytes, step: 1 };
  return { at: y * rowBytes + channel, step: layout.samplesPerPixel };
}

const MAX_COLOURS = 256;

/**
 * The plan for indexed pictures: planes of red, green and blue, and of alpha if one entry is transparent. Throws
 * `unsupported_media` when there is no palette.
 */
export function planPalette(
  { width, height }: PsdHeader,
  palette: Buffer,
  transparentIndex: number | null,
  iccProfile: Buffer | null,
): PixelPlan {
  // All reds, all greens, all blues. Photoshop writes 256 of each, other writers as many as the picture has.
  const colours = Math.min(MAX_COLOURS, Math.floor(palette.length / 3));
  if (colours === 0) throw unreadablePsd("it has no palette");
  const tables = [0, colours, colours * 2].map((start) => palette.subarray(start, start + colours));
  const alpha = transparentIndex !== null && transparentIndex < 256;
  if (alpha) tables.push(Buffer.alloc(256, 0xff).fill(0, transparentIndex, transparentIndex + 1));
  const layout: TiffLayout = {
    width,
    height,
    bitsPerSample: 8,
    photometric: Photometric.rgb,
    samplesPerPixel: tables.length,
    planar: true,
    alpha,
    iccProfile,
  };
  return {
    layout,
    channels: 1,
    writeRow(pixels, _channel, y, source, start) {
      tables.forEach((table, plane) => {
        lookUpRow(table, source, start, pixels, (plane * height + y) * width, width);
      });
    },
    // Nothing in a palette is merged with white.
    finish() {},
  };
}

function lookUpRow(
  table: Buffer,
  source: Buffer,
  start: number,
  target: Buffer,
  at: number,
  count: number,
): void {
  for (let index = 0; index < count; index++) target[at + index] = table[source[start + index] ?? 0] ?? 0;
}

/** Samples of one kind among the pixels of a picture: `count` of them, `step` bytes from one to the next. */
interface SampleRun {
  pixels: Buffer;
  /** Position of the first sample. */
  at: number;
  /** Position of the first sample of alpha, which has the same step. */
  alphaAt: number;
  step: number;
  count: number;
}

/**
 * Photoshop merges onto white. Gives samples the value back that they had before: `matte` is what white is in them. Where
 * alpha is 0 nothing is left to be restored.
 */
function removeMatte({ pixels, at, alphaAt, step, count }: SampleRun, matte: number): void {
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
    table[index] = alpha === 0 ? matted : clamp(matte + ((matted - matte) * 255) / alpha);
  }
  return table;
}

function clamp(value: number): number {
  return Math.min(255, Math.max(0, Math.round(value)));
}
