import { PSD_HEADER_BYTES, truncatedPsd } from "./psd-header.ts";

/** The sections after the header, as views of the file without their length fields. */
export interface PsdSections {
  /** The palette of an indexed picture. */
  colourModeData: Buffer;
  imageResources: Buffer;
  /** Layers, masks and additional layer information. */
  layers: Buffer;
  /** The merged picture, to the end of the file: two bytes that name its compression, then its rows. */
  mergedPicture: Buffer;
}

/** Splits a file into its sections. Throws `unsupported_media` for a section beyond the end. */
export function readPsdSections(bytes: Buffer, large: boolean): PsdSections {
  const colourModeData = sectionAt(bytes, PSD_HEADER_BYTES, false);
  const imageResources = sectionAt(bytes, colourModeData.end, false);
  const layers = sectionAt(bytes, imageResources.end, large);
  return {
    colourModeData: colourModeData.content,
    imageResources: imageResources.content,
    layers: layers.content,
    mergedPicture: bytes.subarray(layers.end),
  };
}

/** Reads a length of four bytes, or eight in some places of a PSB. Throws `unsupported_media` past the end. */
export function readLength(bytes: Buffer, position: number, long: boolean): number {
  if (position + lengthBytes(long) > bytes.length) throw truncatedPsd();
  // Inexact beyond 2^53, but then it is past the end of any file.
  return long ? Number(bytes.readBigUInt64BE(position)) : bytes.readUInt32BE(position);
}

export function lengthBytes(long: boolean): 4 | 8 {
  return long ? 8 : 4;
}

function sectionAt(bytes: Buffer, position: number, long: boolean): { content: Buffer; end: number } {
  const start = position + lengthBytes(long);
  const end = start + readLength(bytes, position, long);
  if (end > bytes.length) throw truncatedPsd();
  return { content: bytes.subarray(start, end), end };
}
