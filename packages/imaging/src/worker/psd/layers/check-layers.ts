import { unreadablePsd } from "../psd-header.ts";
import { checkStoredRows, type StoredRows } from "../stored-rows.ts";
import { isKnownBlendMode } from "./blend-mode.ts";
import { type Layer, visibleStacks } from "./layer.ts";
import { areaOf, intersect, type Rectangle } from "./rectangle.ts";

/** Levels of nested groups; Photoshop allows ten. */
const MAX_DEPTH = 32;

/**
 * Checks, before any pixel is unpacked, that the visible layers can be blended. Throws `unsupported_media` when none
 * has pixels on the canvas, when they have more than `maxPixels` in all, for an unknown blend mode, and for missing
 * pixels.
 */
export function checkLayers(layers: readonly Layer[], canvas: Rectangle, maxPixels: number): void {
  const { unpacked, seen } = countPixels(layers, canvas, 0);
  if (seen === 0) throw unreadablePsd("it holds no merged picture and no visible layer with pixels");
  if (unpacked > maxPixels) {
    throw unreadablePsd(
      `it holds no merged picture and its layers have more than ${maxPixels / 1_000_000} megapixels`,
    );
  }
}

interface PixelCount {
  /** Pixels of layers, masks and groups that drawing unpacks or allocates. */
  unpacked: number;
  /** Pixels of layers that are on the canvas. */
  seen: number;
}

function countPixels(layers: readonly Layer[], canvas: Rectangle, depth: number): PixelCount {
  if (depth > MAX_DEPTH) throw unreadablePsd("it holds no merged picture and groups within groups");
  const total: PixelCount = { unpacked: 0, seen: 0 };
  for (const { base, clipped } of visibleStacks(layers)) {
    for (const layer of [base, ...clipped]) {
      const { unpacked, seen } = countLayer(layer, canvas, depth);
      total.unpacked += unpacked;
      // A clipped layer is visible only within its base.
      if (layer === base) total.seen += seen;
    }
  }
  return total;
}

function countLayer(layer: Layer, canvas: Rectangle, depth: number): PixelCount {
  const { content, bounds, mask, blendMode } = layer;
  const seen = areaOf(intersect(bounds, canvas));
  if (seen === 0) return { unpacked: 0, seen: 0 };
  if (!isKnownBlendMode(blendMode)) {
    throw unreadablePsd(`it holds no merged picture and blends layers by "${blendMode}"`);
  }
  const masked = mask?.stored ? checkChannel(mask.stored) : 0;
  if (content.kind === "group") {
    const inside = countPixels(content.layers, canvas, depth + 1);
    return { unpacked: masked + seen + inside.unpacked, seen: inside.seen };
  }
  const channels = content.alpha ? [...content.colours, content.alpha] : content.colours;
  return { unpacked: masked + Math.max(...channels.map(checkChannel)), seen };
}

/** @returns its pixels. */
function checkChannel(stored: StoredRows): number {
  checkStoredRows(stored);
  return stored.width * stored.rows;
}
