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

/**
 * Whether the first channel after the colour channels is the alpha of the merged picture, not a saved selection. It is
 * when the layer count is negative. Throws `unsupported_media` for lengths beyond the section.
 *
 * Source: Adobe Photoshop File Formats Specification, "Layer info" and "Additional Layer Information".
 */
export function hasMergedAlpha(layers: Buffer, large: boolean): boolean {
  if (layers.length < lengthBytes(large)) return false;
  const infoStart = lengthBytes(large);
  const infoEnd = infoStart + readLength(layers, 0, large);
  const count = infoEnd >= infoStart + 2 ? layerCountAt(layers, infoStart) : 0;
  if (count !== 0) return count < 0;
  if (infoEnd + 4 > layers.length) return false;
  return hasAlphaInBlocks(layers, infoEnd + 4 + layers.readUInt32BE(infoEnd), large);
}

function hasAlphaInBlocks(layers: Buffer, start: number, large: boolean): boolean {
  let hasTransparency = false;
  let position = skipPadding(layers, start);
  while (position + 12 <= layers.length) {
    const signature = layers.toString("latin1", position, position + 4);
    const key = layers.toString("latin1", position + 4, position + 8);
    if (signature !== "8BIM" && signature !== "8B64") break;
    const long = signature === "8B64" || (large && LONG_KEYS.has(key));
    const dataAt = position + 8 + lengthBytes(long);
    if (LAYER_KEYS.has(key)) return layerCountAt(layers, dataAt) < 0;
    if (TRANSPARENCY_KEYS.has(key)) hasTransparency = true;
    position = skipPadding(layers, dataAt + readLength(layers, position + 8, long));
  }
  return hasTransparency;
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
