import { lengthBytes, readLength } from "./psd-header.ts";

/** A block of additional layer information. */
export interface LayerBlock {
  key: string;
  /** To the end of the section if the block declares more. */
  data: Buffer;
  /** Position of the signature. */
  start: number;
  /** Position after the padding. */
  end: number;
  /** Whether its length takes eight bytes. */
  long: boolean;
}

/** Blocks that hold the layers of a picture of 16 or 32 bits. */
export const LAYER_KEYS: ReadonlySet<string> = new Set(["Layr", "Lr16", "Lr32"]);

/** Blocks whose length takes eight bytes in a PSB, whatever their signature says. */
const LONG_KEYS = new Set([
  ...LAYER_KEYS,
  "LMsk",
  "Mtrn",
  "Mt16",
  "Mt32",
  "Alph",
  "FMsk",
  "lnk2",
  "FEid",
  "FXid",
  "PxSD",
]);

/**
 * The layer count of the section of layers, negative when the merged picture has alpha. Absent layers count 0. Throws
 * `unsupported_media` for a length beyond the section.
 */
export function layerCountOf(layers: Buffer, large: boolean): number {
  if (layers.length < lengthBytes(large)) return 0;
  return readLength(layers, 0, large) >= 2 ? countAt(layers, lengthBytes(large)) : 0;
}

/** The layer count of a block among {@link LAYER_KEYS}. */
export function countAt(data: Buffer, position: number): number {
  return position + 2 <= data.length ? data.readInt16BE(position) : 0;
}

/** Whether a file has layers. Throws `unsupported_media` for lengths beyond the section. */
export function hasLayers(layers: Buffer, large: boolean): boolean {
  if (layerCountOf(layers, large) !== 0) return true;
  for (const { key, data } of readLayerBlocks(layers, large)) {
    if (LAYER_KEYS.has(key) && countAt(data, 0) !== 0) return true;
  }
  return false;
}

/**
 * Walks the blocks after the layers. Throws `unsupported_media` for a length of the layers, or of a block that takes
 * more bytes than the section holds for it.
 *
 * Source: Adobe Photoshop File Formats Specification, "Additional Layer Information".
 */
export function* readLayerBlocks(layers: Buffer, large: boolean): Generator<LayerBlock, void> {
  let position = startOfBlocks(layers, large);
  while (position + 12 <= layers.length) {
    const signature = layers.toString("latin1", position, position + 4);
    const key = layers.toString("latin1", position + 4, position + 8);
    if (signature !== "8BIM" && signature !== "8B64") return;
    const long = signature === "8B64" || (large && (LONG_KEYS.has(key) || looksLong(layers, position + 8)));
    const dataStart = position + 8 + lengthBytes(long);
    const dataEnd = dataStart + readLength(layers, position + 8, long);
    const end = Math.min(layers.length, skipPadding(layers, dataEnd));
    yield { key, data: layers.subarray(dataStart, dataEnd), start: position, end, long };
    position = end;
  }
}

/** Position of the first block: after the mask, or after the layers if the section is too short for a mask. */
export function startOfBlocks(layers: Buffer, large: boolean): number {
  if (layers.length < lengthBytes(large)) return layers.length;
  const infoEnd = lengthBytes(large) + readLength(layers, 0, large);
  if (infoEnd + 4 > layers.length) return Math.min(infoEnd, layers.length);
  const maskEnd = infoEnd + 4 + layers.readUInt32BE(infoEnd);
  return maskEnd > layers.length ? infoEnd : skipPadding(layers, maskEnd);
}

/** Whether a length that takes four bytes would be 0, although no block follows: programs disagree about some keys. */
function looksLong(layers: Buffer, position: number): boolean {
  const following = layers.toString("latin1", position + 4, position + 8);
  return layers.readUInt32BE(position) === 0 && !/^(?:8B|$|\0{4})/.test(following);
}

/** A length as blocks and sections have it. */
export function lengthField(length: number, long: boolean): Buffer {
  const field = Buffer.alloc(lengthBytes(long));
  field.writeUInt32BE(length, field.length - 4);
  return field;
}

/** Skips the zeros that pad a block, by some writers to two bytes, by others to four. */
function skipPadding(layers: Buffer, start: number): number {
  let position = start;
  while (layers[position] === 0) position++;
  return position;
}
