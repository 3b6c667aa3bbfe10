import type { PixelPlan } from "./pixel-plan.ts";
import { type PsdHeader, unreadablePsd } from "./psd-header.ts";
import { Photometric, type TiffLayout } from "./tiff.ts";

/** 256 reds, 256 greens, 256 blues. */
const PALETTE_BYTES = 768;

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
  if (palette.length < PALETTE_BYTES) throw unreadablePsd("it has no palette");
  const tables = [0, 256, 512].map((start) => palette.subarray(start, start + 256));
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
