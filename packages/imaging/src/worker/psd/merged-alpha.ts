import type { ImageResources } from "./image-resources.ts";
import { lengthBytes, readLength } from "./psd-sections.ts";

/** Blocks after the layers that hold the layers of a picture of 16 or 32 bits. */
const LAYER_KEYS = new Set(["Layr", "Lr16", "Lr32"]);
/** Blocks that only declare that the merged picture has alpha. */
const TRANSPARENCY_KEYS = new Set(["Mtrn", "Mt16", "Mt32"]);
/** Blocks whose length takes eight bytes in a PSB, whatever their signature says. */
const LONG_KEYS = new Set([
  ...LAYER_KEYS,
  ...TRANSPARENCY_KEYS,
  "LMsk",
  "Alph",
  "FMsk",
  "lnk2",
  "FEid",
  "FXid",
  "PxSD",
]);

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
  if (layers.length < lengthBytes(large)) return false;
  const infoStart = lengthBytes(large);
  const infoEnd = infoStart + readLength(layers, 0, large);
  if (infoEnd >= infoStart + 2 && layerCountAt(layers, infoStart) < 0) return true;
  if (infoEnd + 4 > layers.length) return false;
  return blocksDeclareAlpha(layers, infoEnd + 4 + layers.readUInt32BE(infoEnd), large);
}

function blocksDeclareAlpha(layers: Buffer, start: number, large: boolean): boolean {
  let position = skipPadding(layers, start);
  while (position + 12 <= layers.length) {
    const signature = layers.toString("latin1", position, position + 4);
    const key = layers.toString("latin1", position + 4, position + 8);
    if (signature !== "8BIM" && signature !== "8B64") break;
    if (TRANSPARENCY_KEYS.has(key)) return true;
    const long = signature === "8B64" || (large && LONG_KEYS.has(key));
    const dataAt = position + 8 + lengthBytes(long);
    if (LAYER_KEYS.has(key) && layerCountAt(layers, dataAt) < 0) return true;
    position = skipPadding(layers, dataAt + readLength(layers, position + 8, long));
  }
  return false;
}

function layerCountAt(layers: Buffer, position: number): number {
  return position + 2 <= layers.length ? layers.readInt16BE(position) : 0;
}

/** Skips the zeros that pad a block, by some writers to two bytes, by others to four. */
function skipPadding(layers: Buffer, start: number): number {
  let position = start;
  while (layers[position] === 0) position++;
  return position;
}
