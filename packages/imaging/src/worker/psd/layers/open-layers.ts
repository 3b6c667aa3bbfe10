import sharp, { type Sharp } from "sharp";
import { type ImageResources, usableIccProfile } from "../image-resources.ts";
import { type ColourMode, type PsdHeader, unreadablePsd } from "../psd-header.ts";
import type { PsdSections } from "../psd-sections.ts";
import { convertLab } from "../srgb.ts";
import { createTiff, Photometric } from "../tiff.ts";
import { checkLayers } from "./check-layers.ts";
import { composeLayers } from "./compose-layers.ts";
import { readLayers, selectChannels } from "./read-layers.ts";

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
