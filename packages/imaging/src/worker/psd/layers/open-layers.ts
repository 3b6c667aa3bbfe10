import sharp, { type Sharp } from "sharp";
import { type ImageResources, usableIccProfile } from "../image-resources.ts";
import { type PsdHeader, unreadablePsd } from "../psd-header.ts";
import { createTiff, Photometric } from "../tiff.ts";
import { checkLayers } from "./check-layers.ts";
import { composeLayers } from "./compose-layers.ts";
import { readLayers } from "./read-layers.ts";

/** Pixels that all layers may have together, as a multiple of the pixel limit. 200 megapixels take some seconds. */
const LAYER_FACTOR = 4;

/**
 * Opens a file without a merged picture by composing its layers. Rejects with `unsupported_media`, also for layers that
 * cannot be composed: a blank picture would be worse.
 *
 * @returns a function that creates a pipeline of the pixels.
 */
export async function openLayers(
  bytes: Buffer,
  header: PsdHeader,
  resources: ImageResources,
  maxPixels: number,
): Promise<() => Promise<Sharp>> {
  if (header.mode !== "rgb" && header.mode !== "greyscale") {
    throw unreadablePsd(`it holds no merged picture and its layers are ${header.mode}`);
  }
  const layers = await readLayers(bytes, header);
  const canvas = { left: 0, top: 0, right: header.width, bottom: header.height };
  checkLayers(layers, canvas, maxPixels * LAYER_FACTOR);
  const iccProfile = header.depth === 32 ? null : usableIccProfile(resources.iccProfile, header.mode);
  return async () => {
    const pixels = await composeLayers(layers, canvas);
    if (iccProfile === null) {
      const { width, height } = header;
      return sharp(pixels, { raw: { width, height, channels: 4 }, limitInputPixels: maxPixels });
    }
    const file = composedAsTiff(pixels, header, iccProfile);
    return sharp(file, { failOn: "error", limitInputPixels: maxPixels });
  };
}

/** The pixels as a TIFF with their profile, for libvips: RGBA, or grey and alpha. */
function composedAsTiff(pixels: Buffer, { width, height, mode }: PsdHeader, iccProfile: Buffer): Buffer {
  const isGrey = mode === "greyscale";
  const { file, pixels: target } = createTiff({
    width,
    height,
    bitsPerSample: 8,
    photometric: isGrey ? Photometric.blackIsZero : Photometric.rgb,
    samplesPerPixel: isGrey ? 2 : 4,
    planar: false,
    alpha: true,
    iccProfile,
  });
  if (!isGrey) pixels.copy(target);
  else
    for (let from = 0, to = 0; from < pixels.length; from += 4, to += 2) {
      target[to] = pixels[from] ?? 0;
      target[to + 1] = pixels[from + 3] ?? 0;
    }
  return file;
}
