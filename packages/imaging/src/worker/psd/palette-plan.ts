import type { PixelPlan } from "./pixel-plan.ts";
import { type PsdHeader, unreadablePsd } from "./psd-header.ts";
import { Photometric, type TiffLayout } from "./tiff.ts";

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
