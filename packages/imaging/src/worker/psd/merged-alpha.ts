import type { ImageResources } from "./image-resources.ts";
import { countAt, LAYER_KEYS, layerCountOf, readLayerBlocks } from "./layer-blocks.ts";

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
export function mergedAlphaIndex(
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
