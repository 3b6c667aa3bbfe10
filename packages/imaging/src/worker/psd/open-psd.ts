import sharp, { type Sharp } from "sharp";
import { damaged, type Picture, tooManyPixels } from "../picture.ts";
import { type ImageResources, readImageResources, usableIccProfile } from "./image-resources.ts";
import { countAt, hasLayers, LAYER_KEYS, layerCountOf, readLayerBlocks } from "./layer-blocks.ts";
import { planPalette, planPixels } from "./pixel-plan.ts";
import {
  PSD_TYPE,
  type PsdHeader,
  type PsdSections,
  readPsdHeader,
  readPsdSections,
  unreadablePsd,
} from "./psd-header.ts";
import { checkStoredRows, type StoredRows, visitRows } from "./stored-rows.ts";
import { createTiff } from "./tiff.ts";

/**
 * Opens the merged picture of a PSD or PSB. Declared sizes are checked against the file and the limit before memory is
 * allocated. Rejects with `unsupported_media`, also for a file that declares to have none.
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
  if (!resources.hasMergedPicture && hasLayers(sections.layers, header.large)) {
    throw unreadablePsd('it holds no merged picture: save it with "Maximize Compatibility"');
  }
  const decode = openMergedPicture(header, sections, resources, maxPixels);
  return { natural: { width, height }, frames: 1, pages: 1, scalable: false, decode };
}

/**
 * Finds the merged picture and checks that it is complete. Throws `unsupported_media`. The function that it returns
 * unpacks it into a TIFF, and rejects with `unsupported_media`.
 *
 * Source: Adobe Photoshop File Formats Specification, "Image Data Section".
 */
function openMergedPicture(
  header: PsdHeader,
  sections: PsdSections,
  resources: ImageResources,
  maxPixels: number,
): () => Promise<Sharp> {
  const { width, height, mode, large } = header;
  if (sections.mergedPicture.length < 2) throw damaged();
  // All channels, needed or not.
  const stored: StoredRows = {
    compression: sections.mergedPicture.readUInt16BE(),
    data: sections.mergedPicture.subarray(2),
    rows: height * header.channels,
    width,
    depth: header.depth,
    longCounts: large,
  };
  checkStoredRows(stored);
  const iccProfile = usableIccProfile(resources.iccProfile, mode);
  const plan =
    mode === "indexed"
      ? planPalette(header, sections.colourModeData, resources.transparentIndex, iccProfile)
      : planPixels(header, mergedAlphaIndex(sections.layers, large, resources), iccProfile);
  return async () => {
    const { file, pixels } = createTiff(plan.layout);
    await visitRows(stored, height * plan.channels, (row, source, start) => {
      plan.writeRow(pixels, Math.floor(row / height), row % height, source, start);
    });
    plan.finish(pixels);
    // A libvips warning may concern only the profile.
    return sharp(file, { failOn: "error", limitInputPixels: maxPixels });
  };
}

/** Blocks that only declare that the merged picture has alpha. */
const TRANSPARENCY_KEYS = new Set(["Mtrn", "Mt16", "Mt32"]);
/** The name of the transparency in files without IDs of channels. */
const TRANSPARENCY = "Transparency";

/**
 * The alpha of the merged picture: its place among the channels after the colours, or `null` when these channels are
 * saved selections or inks. Photoshop gives the transparency the ID 0. A negative layer count, or a block, says the same
 * of the first of them. Without IDs and layers its name decides. Throws `unsupported_media` for lengths beyond the
 * section.
 *
 * Source: Adobe Photoshop File Formats Specification, "Image Resource IDs", "Layer info" and "Additional Layer
 * Information".
 */
function mergedAlphaIndex(
  layers: Buffer,
  large: boolean,
  { alphaIds, alphaNames }: Pick<ImageResources, "alphaIds" | "alphaNames">,
): number | null {
  const index = alphaIds.indexOf(0);
  if (index >= 0) return index;
  if (layersDeclareAlpha(layers, large)) return 0;
  const named = alphaIds.length === 0 ? alphaNames.indexOf(TRANSPARENCY) : -1;
  return named >= 0 ? named : null;
}

function layersDeclareAlpha(layers: Buffer, large: boolean): boolean {
  if (layerCountOf(layers, large) < 0) return true;
  for (const { key, data } of readLayerBlocks(layers, large)) {
    if (TRANSPARENCY_KEYS.has(key) || (LAYER_KEYS.has(key) && countAt(data, 0) < 0)) return true;
  }
  return false;
}
