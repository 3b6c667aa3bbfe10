import sharp, { type Sharp } from "sharp";
import type { Picture } from "../picture.ts";
import { tooManyPixels } from "../unreadable.ts";
import { readImageResources } from "./image-resources.ts";
import { hasLayers } from "./layer-blocks.ts";
import { openLayers } from "./layers/open-layers.ts";
import { findMergedPicture, type MergedPicture, mergedPictureAsTiff } from "./merged-picture.ts";
import { PSD_TYPE, readPsdHeader } from "./psd-header.ts";
import { readPsdSections } from "./psd-sections.ts";

/**
 * Opens a PSD or PSB: its merged picture or, if it declares none, its visible layers. Declared sizes are checked
 * against the file and the limit before memory is allocated. Rejects with `unsupported_media`.
 *
 * @param limits.maxPixels Pixels of the canvas.
 */
export async function openPsd(bytes: Buffer, limits: { maxPixels: number }): Promise<Picture> {
  const { maxPixels } = limits;
  const header = readPsdHeader(bytes);
  const { width, height } = header;
  if (width * height > maxPixels) throw tooManyPixels(PSD_TYPE, maxPixels);
  const sections = readPsdSections(bytes, header.large);
  const resources = readImageResources(sections.imageResources);
  // Without layers the merged picture is all that there is, whatever the flag says of it.
  const isMerged = resources.hasMergedPicture || !hasLayers(sections.layers, header.large);
  const decode = isMerged
    ? openMergedPicture(findMergedPicture(header, sections, resources), maxPixels)
    : await openLayers(bytes, header, sections, resources, maxPixels);
  return { natural: { width, height }, frames: 1, pages: 1, scalable: false, decode };
}

function openMergedPicture(merged: MergedPicture, maxPixels: number): () => Promise<Sharp> {
  return async () => {
    const file = await mergedPictureAsTiff(merged);
    // A libvips warning may concern only the profile.
    return sharp(file, { failOn: "error", limitInputPixels: maxPixels });
  };
}
