import type { Depth } from "../psd-header.ts";
import { encodeFloats, floatsToBytes, type MoveSamples, moveBytes, moveHighBytes } from "../sample-rows.ts";
import { rowBytes, type StoredRows } from "../stored-rows.ts";
import { visitRows } from "../visit-rows.ts";
import type { LayerChannels, LayerMask } from "./layer.ts";
import { areaOf, intersect, type Rectangle, widthOf } from "./rectangle.ts";

/** Unpacks the part of a layer within `area` to 8-bit RGBA. `area` must lie within `bounds`. */
export async function unpackLayer(
  { colours, alpha }: LayerChannels,
  bounds: Rectangle,
  area: Rectangle,
): Promise<Buffer> {
  const pixels = Buffer.alloc(areaOf(area) * 4, 0xff);
  for (const [channel, stored] of colours.entries()) {
    await unpackChannel(stored, bounds, area, { pixels, channel, step: 4, linear: false });
  }
  if (colours.length === 1) repeatGrey(pixels);
  if (alpha) await unpackChannel(alpha, bounds, area, { pixels, channel: 3, step: 4, linear: true });
  return pixels;
}

/** Applies a mask to the alpha of RGBA pixels. */
export async function applyMask(pixels: Buffer, area: Rectangle, mask: LayerMask): Promise<void> {
  const coverage = Buffer.alloc(areaOf(area), mask.outside);
  if (mask.stored && areaOf(intersect(mask.bounds, area)) > 0) {
    await unpackChannel(mask.stored, mask.bounds, area, {
      pixels: coverage,
      channel: 0,
      step: 1,
      linear: true,
    });
  }
  const least = 255 * (1 - mask.density);
  for (let index = 0; index < coverage.length; index++) {
    const share = least + (coverage[index] ?? 0) * mask.density;
    pixels[index * 4 + 3] = Math.round(((pixels[index * 4 + 3] ?? 0) * share) / 255);
  }
}

/** @param opacity 0 to 1. */
export function applyOpacity(pixels: Buffer, opacity: number): void {
  if (opacity === 1) return;
  for (let at = 3; at < pixels.length; at += 4) pixels[at] = Math.round((pixels[at] ?? 0) * opacity);
}

interface ChannelTarget {
  /** Pixels of the area, row by row. */
  pixels: Buffer;
  channel: number;
  step: number;
  /** Whether the channel is linear, as alpha and masks are. */
  linear: boolean;
}

/** Unpacks the part of a channel with these `bounds` that lies within `area`. The rest of the target is unchanged. */
async function unpackChannel(
  stored: StoredRows,
  bounds: Rectangle,
  area: Rectangle,
  { pixels, channel, step, linear }: ChannelTarget,
): Promise<void> {
  const seen = intersect(bounds, area);
  const move = moverTo8Bits(stored.depth, linear);
  const skippedBytes = rowBytes(seen.left - bounds.left, stored.depth);
  const rows = { first: seen.top - bounds.top, end: seen.bottom - bounds.top };
  await visitRows(stored, rows, (row, source, start) => {
    const y = bounds.top + row - area.top;
    const at = (y * widthOf(area) + seen.left - area.left) * step + channel;
    move(source, start + skippedBytes, widthOf(seen), pixels, at, step);
  });
}

function moverTo8Bits(depth: Depth, linear: boolean): MoveSamples {
  if (depth === 32) return linear ? floatsToBytes : encodeFloats;
  return depth === 16 ? moveHighBytes : moveBytes;
}

function repeatGrey(pixels: Buffer): void {
  for (let at = 0; at < pixels.length; at += 4) {
    const grey = pixels[at] ?? 0;
    pixels[at + 1] = grey;
    pixels[at + 2] = grey;
  }
}
