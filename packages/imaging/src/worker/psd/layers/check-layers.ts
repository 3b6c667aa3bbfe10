import { unreadablePsd } from "../psd-header.ts";
import { checkStoredRows, type StoredRows } from "../stored-rows.ts";
import { checkPattern } from "./fills/pattern.ts";
import { type Layer, visibleStacks } from "./layer.ts";
import { areaOf, intersect, type Rectangle } from "./rectangle.ts";
import { checkVectorMask } from "./vector-mask.ts";

/** Levels of nested groups; Photoshop allows ten. */
const MAX_DEPTH = 32;

/**
 * Checks, before any pixel is unpacked, that the visible layers can be blended. Throws `unsupported_media` when none
 * has pixels on the canvas, when they have more than `maxPixels` in all, and for missing pixels.
 */
export function checkLayers(layers: readonly Layer[], canvas: Rectangle, maxPixels: number): void {
  const { unpacked, seen, omitted } = countPixels(layers, canvas, 0);
  if (seen === 0) {
    const instead = omitted === null ? "" : ` but ${omitted}`;
    throw unreadablePsd(`it holds no merged picture and no visible layer with pixels${instead}`);
  }
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
  /** What the first visible layer holds that cannot be drawn. */
  omitted: string | null;
}

function countPixels(layers: readonly Layer[], canvas: Rectangle, depth: number): PixelCount {
  if (depth > MAX_DEPTH) throw unreadablePsd("it holds no merged picture and groups within groups");
  const total: PixelCount = { unpacked: 0, seen: 0, omitted: null };
  for (const { base, clipped } of visibleStacks(layers)) {
    for (const layer of [base, ...clipped]) {
      const { unpacked, seen, omitted } = countLayer(layer, canvas, depth);
      total.unpacked += unpacked;
      total.omitted ??= omitted;
      // A clipped layer is visible only within its base.
      if (layer === base) total.seen += seen;
    }
  }
  return total;
}

function countLayer(layer: Layer, canvas: Rectangle, depth: number): PixelCount {
  const { content, bounds, mask, vectorMask } = layer;
  if (content.kind === "omitted") return { unpacked: 0, seen: 0, omitted: content.reason };
  const area = intersect(bounds, canvas);
  const seen = areaOf(area);
  // A group of layers that cannot be drawn has empty bounds as well.
  if (seen === 0 && content.kind !== "group") return { unpacked: 0, seen: 0, omitted: null };
  const masked =
    (mask?.stored ? checkChannel(mask.stored) : 0) + (vectorMask ? checkVectorMask(vectorMask, area) : 0);
  if (content.kind === "group") {
    const inside = countPixels(content.layers, canvas, depth + 1);
    return { ...inside, unpacked: masked + seen + inside.unpacked };
  }
  if (content.kind === "fill") {
    const tile = content.paint.kind === "pattern" ? checkPattern(content.paint) : 0;
    return { unpacked: masked + seen + tile, seen, omitted: null };
  }
  const channels = content.alpha ? [...content.colours, content.alpha] : content.colours;
  return { unpacked: masked + Math.max(...channels.map(checkChannel)), seen, omitted: null };
}

/** @returns its pixels. */
function checkChannel(stored: StoredRows): number {
  checkStoredRows(stored);
  return stored.width * stored.rows;
}
