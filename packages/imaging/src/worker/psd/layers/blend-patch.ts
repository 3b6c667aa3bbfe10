import type { Blending } from "./blend-mode.ts";
import type { MixChannels, Rgb } from "./channel-mixers.ts";
import { heightOf, type Rectangle, widthOf } from "./rectangle.ts";

/** Pixels of `area`, row by row: RGBA of 8 bits, colours not multiplied with alpha. */
export interface Patch {
  area: Rectangle;
  pixels: Buffer;
}

/**
 * Blends a patch onto a canvas that contains its area. libvips is unsuitable: in all modes but normal it applies the
 * alpha of translucent pixels twice.
 *
 * Source: ISO 32000-1, 11.3.6.
 *
 * @param blending the result of `blendingOf`; `null` for normal.
 */
export function blendPatch(canvas: Patch, patch: Patch, blending: Blending): void {
  const columns = widthOf(patch.area);
  const toLeft = patch.area.left - canvas.area.left;
  const toTop = patch.area.top - canvas.area.top;
  for (let y = 0; y < heightOf(patch.area); y++) {
    const at = ((toTop + y) * widthOf(canvas.area) + toLeft) * 4;
    if (typeof blending === "function")
      mixRow(patch.pixels, y * columns * 4, columns, canvas.pixels, at, blending);
    else blendRow(canvas.pixels, at, patch.pixels, y * columns * 4, columns, blending);
  }
}

function blendRow(
  canvas: Buffer,
  at: number,
  patch: Buffer,
  start: number,
  count: number,
  table: Uint8Array | null,
): void {
  let to = at;
  for (let from = start; from < start + count * 4; from += 4, to += 4) {
    const alpha = patch[from + 3] ?? 0;
    const alphaBelow = canvas[to + 3] ?? 0;
    if (alpha === 0) continue;
    if (alphaBelow === 0 || (alpha === 255 && table === null)) copyPixel(patch, from, canvas, to);
    else blendPixel(canvas, to, alphaBelow, patch, from, alpha, table);
  }
}

function copyPixel(source: Buffer, from: number, target: Buffer, to: number): void {
  for (let sample = 0; sample < 4; sample++) target[to + sample] = source[from + sample] ?? 0;
}

function blendPixel(
  canvas: Buffer,
  to: number,
  alphaBelow: number,
  patch: Buffer,
  from: number,
  alpha: number,
  table: Uint8Array | null,
): void {
  // Both are fractions of 255 * 255.
  const share = alpha * 255;
  const shareBelow = alphaBelow * (255 - alpha);
  const total = share + shareBelow;
  for (let channel = 0; channel < 3; channel++) {
    const below = canvas[to + channel] ?? 0;
    let above = patch[from + channel] ?? 0;
    if (table) above += (((table[(below << 8) | above] ?? 0) - above) * alphaBelow) / 255;
    canvas[to + channel] = (above * share + below * shareBelow) / total + 0.5;
  }
  canvas[to + 3] = total / 255 + 0.5;
}

/** Replaces the colours of a patch by the blended ones, as far as the canvas is opaque, then blends normally. */
function mixRow(
  patch: Buffer,
  start: number,
  count: number,
  canvas: Buffer,
  at: number,
  mix: MixChannels,
): void {
  let to = at;
  for (let from = start; from < start + count * 4; from += 4, to += 4) {
    const alpha = patch[from + 3] ?? 0;
    const alphaBelow = canvas[to + 3] ?? 0;
    if (alpha === 0) continue;
    if (alphaBelow === 0) {
      copyPixel(patch, from, canvas, to);
      continue;
    }
    const above: Rgb = [patch[from] ?? 0, patch[from + 1] ?? 0, patch[from + 2] ?? 0];
    const mixed = mix([canvas[to] ?? 0, canvas[to + 1] ?? 0, canvas[to + 2] ?? 0], above);
    for (let channel = 0; channel < 3; channel++) {
      const own = patch[from + channel] ?? 0;
      patch[from + channel] = own + (((mixed[channel] ?? 0) - own) * alphaBelow) / 255 + 0.5;
    }
    blendPixel(canvas, to, alphaBelow, patch, from, alpha, null);
  }
}
