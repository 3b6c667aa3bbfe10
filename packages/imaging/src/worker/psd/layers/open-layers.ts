import sharp, { type Sharp } from "sharp";
import { type ImageResources, usableIccProfile } from "../image-resources.ts";
import { type ColourMode, type PsdHeader, type PsdSections, unreadablePsd } from "../psd-header.ts";
import { convertLab } from "../srgb.ts";
import { checkStoredRows, type StoredRows } from "../stored-rows.ts";
import { createTiff, Photometric } from "../tiff.ts";
import { composeLayers } from "./compose-layers.ts";
import { checkPattern } from "./fills/pattern.ts";
import { type Layer, visibleStacks } from "./layer.ts";
import { readLayers, selectChannels } from "./read-layers.ts";
import { areaOf, intersect, type Rectangle } from "./rectangle.ts";
import { checkVectorMask } from "./vector-mask.ts";

/** Pixels that all layers may have together, as a multiple of the pixel limit. 200 megapixels take some seconds. */
const LAYER_FACTOR = 4;

/**
 * The channels of each mode that has layers, in groups that are composed one after the other: a blend mode changes each
 * ink on its own.
 */
const channelGroups: Partial<Record<ColourMode, readonly [readonly number[], ...(readonly number[])[]]>> = {
  greyscale: [[0]],
  duotone: [[0]],
  rgb: [[0, 1, 2]],
  lab: [[0, 1, 2]],
  cmyk: [[0, 1, 2], [3]],
};

/**
 * Opens a file without a merged picture by composing its layers. Rejects with `unsupported_media`, also for layers that
 * cannot be composed: a blank picture would be worse.
 *
 * @returns a function that creates a pipeline of the pixels.
 */
export async function openLayers(
  bytes: Buffer,
  header: PsdHeader,
  sections: PsdSections,
  resources: ImageResources,
  maxPixels: number,
): Promise<() => Promise<Sharp>> {
  const groups = channelGroups[header.mode];
  if (groups === undefined) {
    throw unreadablePsd(`it holds no merged picture and its layers are ${header.mode}`);
  }
  const stored = await readLayers(bytes, header, sections.layers);
  const canvas = { left: 0, top: 0, right: header.width, bottom: header.height };
  const drawings = groups.map((channels) => selectChannels(stored, channels));
  for (const layers of drawings) checkLayers(layers, canvas, maxPixels * LAYER_FACTOR);
  const iccProfile = header.depth === 32 ? null : usableIccProfile(resources.iccProfile, header.mode);
  return async () => {
    const drawn: Buffer[] = [];
    for (const layers of drawings) drawn.push(await composeLayers(layers, canvas));
    const [pixels = Buffer.alloc(0), blacks] = drawn;
    if (header.mode === "lab") labToSrgb(pixels);
    if (iccProfile === null && blacks === undefined) {
      const { width, height } = header;
      return sharp(pixels, { raw: { width, height, channels: 4 }, limitInputPixels: maxPixels });
    }
    const file = composedAsTiff(pixels, blacks, header, iccProfile);
    return sharp(file, { failOn: "error", limitInputPixels: maxPixels });
  };
}

/** The pixels as a TIFF with their profile, for libvips: RGBA, inks with alpha, or grey with alpha. */
function composedAsTiff(
  pixels: Buffer,
  blacks: Buffer | undefined,
  { width, height, mode }: PsdHeader,
  iccProfile: Buffer | null,
): Buffer {
  const samplesPerPixel = blacks ? 5 : mode === "rgb" ? 4 : 2;
  const { file, pixels: target } = createTiff({
    width,
    height,
    bitsPerSample: 8,
    photometric: blacks ? Photometric.inks : mode === "rgb" ? Photometric.rgb : Photometric.blackIsZero,
    samplesPerPixel,
    planar: false,
    alpha: true,
    iccProfile,
  });
  if (samplesPerPixel === 4) pixels.copy(target);
  else if (blacks) writeInks(pixels, blacks, target);
  else
    for (let from = 0, to = 0; from < pixels.length; from += 4, to += 2) {
      target[to] = pixels[from] ?? 0;
      target[to + 1] = pixels[from + 3] ?? 0;
    }
  return file;
}

/** A PSD stores the light that an ink leaves, a TIFF the amount of ink. */
function writeInks(pixels: Buffer, blacks: Buffer, target: Buffer): void {
  for (let from = 0, to = 0; from < pixels.length; from += 4, to += 5) {
    for (let ink = 0; ink < 3; ink++) target[to + ink] = ~(pixels[from + ink] ?? 0);
    target[to + 3] = ~(blacks[from] ?? 0);
    target[to + 4] = pixels[from + 3] ?? 0;
  }
}

/** Converts lightness, a and b of each pixel, and keeps alpha. */
function labToSrgb(pixels: Buffer): void {
  const count = pixels.length / 4;
  const planes = Buffer.allocUnsafe(count * 3);
  for (let index = 0; index < count; index++) {
    for (let channel = 0; channel < 3; channel++) {
      planes[channel * count + index] = pixels[index * 4 + channel] ?? 0;
    }
  }
  convertLab(planes, count);
  for (let index = 0; index < count; index++) {
    for (let channel = 0; channel < 3; channel++) {
      pixels[index * 4 + channel] = planes[channel * count + index] ?? 0;
    }
  }
}

/** Levels of nested groups; Photoshop allows ten. */
const MAX_DEPTH = 32;

/**
 * Checks, before any pixel is unpacked, that the visible layers can be blended. Throws `unsupported_media` when none
 * has pixels on the canvas, when they have more than `maxPixels` in all, and for missing pixels.
 */
function checkLayers(layers: readonly Layer[], canvas: Rectangle, maxPixels: number): void {
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
