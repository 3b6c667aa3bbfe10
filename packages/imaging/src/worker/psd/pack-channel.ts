import type { Pixels } from "../libvips.ts";
import { maxPackedBytes, packBits } from "./pack-bits.ts";

/** Results of merging a colour with white, indexed by alpha and colour. */
let merged: Uint8Array | null = null;

/** The maximum bytes of a channel: a two-byte length per row, and the rows. */
export function maxChannelBytes({ width, height }: Pixels): number {
  return height * (2 + maxPackedBytes(width));
}

/** Bytes of the lengths of the rows of a channel. */
export function countsBytes({ height }: Pixels): number {
  return height * 2;
}

/**
 * Packs the rows of one channel into `file` from `dataAt`, and their lengths from `countsAt`.
 *
 * @param onWhite Whether to merge transparent colours with white.
 * @returns the position after the rows.
 */
export function packChannel(
  picture: Pixels,
  channel: number,
  file: Buffer,
  { countsAt, dataAt, onWhite }: { countsAt: number; dataAt: number; onWhite: boolean },
): number {
  const { pixels, width, height, channels } = picture;
  const row = Buffer.alloc(width);
  let end = dataAt;
  for (let y = 0; y < height; y++) {
    const start = y * width * channels;
    if (onWhite) mergeWithWhite(pixels, start + channel, start + 3, row);
    else pickChannel(pixels, start + channel, channels, row);
    const next = packBits(row, width, file, end);
    file.writeUInt16BE(next - end, countsAt + y * 2);
    end = next;
  }
  return end;
}

function pickChannel(pixels: Buffer, start: number, step: number, row: Buffer): void {
  let from = start;
  for (let x = 0; x < row.length; x++, from += step) row[x] = pixels[from] ?? 0;
}

function mergeWithWhite(pixels: Buffer, colourAt: number, alphaAt: number, row: Buffer): void {
  merged ??= tabulateMerged();
  const limit = alphaAt + row.length * 4;
  const toColour = colourAt - alphaAt;
  let x = 0;
  for (let from = alphaAt; from < limit; from += 4) {
    row[x++] = merged[((pixels[from] ?? 0) << 8) | (pixels[from + toColour] ?? 0)] ?? 0;
  }
}

function tabulateMerged(): Uint8Array {
  return Uint8Array.from({ length: 0x10000 }, (_, index) => {
    const alpha = index >> 8;
    const colour = index & 0xff;
    return Math.round(255 + ((colour - 255) * alpha) / 255);
  });
}
