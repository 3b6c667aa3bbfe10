import { blendingOf } from "./blend-mode.ts";
import { blendPatch, type Patch } from "./blend-patch.ts";
import { drawPaint } from "./fills/draw-paint.ts";
import { type Layer, visibleStacks } from "./layer.ts";
import { applyMask, applyOpacity, unpackLayer } from "./layer-pixels.ts";
import { areaOf, heightOf, intersect, type Rectangle, widthOf } from "./rectangle.ts";
import { applyVectorMask } from "./vector-mask.ts";

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
