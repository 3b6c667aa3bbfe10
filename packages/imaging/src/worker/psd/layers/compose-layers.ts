import { moverTo8Bits } from "../sample-rows.ts";
import { rowBytes, type StoredRows, visitRows } from "../stored-rows.ts";
import { blendingOf, blendPatch, type Patch } from "./blend-mode.ts";
import { drawGradient } from "./fills/gradient.ts";
import { drawPattern } from "./fills/pattern.ts";
import type { Paint } from "./fills/read-paint.ts";
import { type Layer, type LayerChannels, type LayerMask, visibleStacks } from "./layer.ts";
import { areaOf, heightOf, intersect, type Rectangle, widthOf } from "./rectangle.ts";
import { applyCoverage, applyVectorMask } from "./vector-mask.ts";

/** Bytes of the canvas that are drawn at a time, so that no layer is unpacked as a whole. */
const BAND_BYTES = 8 * 1024 ** 2;

/**
 * Blends the visible layers within `area`, from the lowest to the topmost. Returns 8-bit RGBA, not premultiplied. Call
 * `checkLayers` first. Adjustments and effects are not drawn. Rejects with `unsupported_media` for damaged pixels.
 */
export async function composeLayers(layers: readonly Layer[], area: Rectangle): Promise<Buffer> {
  const rowBytes = widthOf(area) * 4;
  const rows = Math.max(1, Math.floor(BAND_BYTES / rowBytes));
  // Deflated rows cannot be read from the middle: each band would inflate all rows above it.
  if (rows >= heightOf(area) || layers.some(isDeflated)) return await drawGroup(layers, area);
  const pixels = Buffer.allocUnsafe(areaOf(area) * 4);
  for (let top = area.top; top < area.bottom; top += rows) {
    const band = { ...area, top, bottom: Math.min(top + rows, area.bottom) };
    const drawn = await drawGroup(layers, band);
    drawn.copy(pixels, (top - area.top) * rowBytes);
  }
  return pixels;
}

function isDeflated({ content, mask }: Layer): boolean {
  if (content.kind === "group" && content.layers.some(isDeflated)) return true;
  const channels = content.kind === "channels" ? [...content.colours, content.alpha] : [];
  return [...channels, mask?.stored].some((stored) => (stored?.compression ?? 0) >= 2);
}

async function drawGroup(layers: readonly Layer[], area: Rectangle): Promise<Buffer> {
  const canvas = { area, pixels: Buffer.alloc(areaOf(area) * 4) };
  await drawLayers(layers, canvas);
  return canvas.pixels;
}

/** Whether the layers of a group are blended directly with the layers below the group. */
function isPassThrough({ blendMode, opacity, mask, vectorMask }: Layer): boolean {
  // A group with a mask or opacity is blended as a whole, which is exact if its layers are blended normally.
  return blendMode === "pass through" && opacity === 1 && mask === null && vectorMask === null;
}

async function drawLayers(layers: readonly Layer[], canvas: Patch): Promise<void> {
  for (const { base, clipped } of visibleStacks(layers)) {
    if (base.content.kind === "group" && clipped.length === 0 && isPassThrough(base)) {
      await drawLayers(base.content.layers, canvas);
      continue;
    }
    const area = intersect(base.bounds, canvas.area);
    if (areaOf(area) === 0) continue;
    const pixels = await drawLayer(base, area);
    await drawClipped(clipped, { area, pixels });
    applyOpacity(pixels, base.opacity);
    blendPatch(canvas, { area, pixels }, blendingOf(base.blendMode));
  }
}

/** Draws a layer without its opacity, which the caller applies together with the layers clipped to it. */
async function drawLayer({ content, bounds, mask, vectorMask }: Layer, area: Rectangle): Promise<Buffer> {
  const pixels = await drawContent(content, bounds, area);
  if (vectorMask) await applyVectorMask(pixels, area, vectorMask);
  if (mask) await applyMask(pixels, area, mask);
  return pixels;
}

async function drawContent(content: Layer["content"], bounds: Rectangle, area: Rectangle): Promise<Buffer> {
  switch (content.kind) {
    case "group":
      return await drawGroup(content.layers, area);
    case "channels":
      return await unpackLayer(content, bounds, area);
    case "fill":
      return await drawPaint(content.paint, area);
    case "omitted":
      return Buffer.alloc(areaOf(area) * 4);
  }
}

/** Blends clipped layers onto their base as if it were opaque, then restores the base's alpha. */
async function drawClipped(clipped: readonly Layer[], base: Patch): Promise<void> {
  if (clipped.length === 0) return;
  const { pixels } = base;
  const alpha = Buffer.alloc(areaOf(base.area));
  for (let index = 0; index < alpha.length; index++) {
    alpha[index] = pixels[index * 4 + 3] ?? 0;
    pixels[index * 4 + 3] = 0xff;
  }
  await drawLayers(clipped, base);
  for (let index = 0; index < alpha.length; index++) pixels[index * 4 + 3] = alpha[index] ?? 0;
}

/** Unpacks the part of a layer within `area` to 8-bit RGBA. `area` must lie within `bounds`. */
async function unpackLayer(
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
async function applyMask(pixels: Buffer, area: Rectangle, mask: LayerMask): Promise<void> {
  const coverage = Buffer.alloc(areaOf(area), mask.outside);
  if (mask.stored && areaOf(intersect(mask.bounds, area)) > 0) {
    await unpackChannel(mask.stored, mask.bounds, area, {
      pixels: coverage,
      channel: 0,
      step: 1,
      linear: true,
    });
  }
  applyCoverage(pixels, coverage, mask.density);
}

/** @param opacity 0 to 1. */
function applyOpacity(pixels: Buffer, opacity: number): void {
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

function repeatGrey(pixels: Buffer): void {
  for (let at = 0; at < pixels.length; at += 4) {
    const grey = pixels[at] ?? 0;
    pixels[at + 1] = grey;
    pixels[at + 2] = grey;
  }
}

/** Draws the part of a filling within `area` as 8-bit RGBA. Rejects with `unsupported_media` for a damaged pattern. */
async function drawPaint(paint: Paint, area: Rectangle): Promise<Buffer> {
  switch (paint.kind) {
    case "solid":
      return Buffer.alloc(areaOf(area) * 4, Buffer.from([...paint.colour, 0xff]));
    case "gradient":
      return drawGradient(paint, area);
    case "pattern":
      return await drawPattern(paint, area);
  }
}
