import type { ServiceError } from "@outrigger/core";
import type { Size } from "@outrigger/core/images";
import { damaged, unreadable } from "../picture.ts";

/** How the channels form a colour. */
export type ColourMode = "bitmap" | "greyscale" | "indexed" | "rgb" | "cmyk" | "duotone" | "lab";

/** Bits of a sample. */
export type Depth = 1 | 8 | 16;

/** The first 26 bytes of a PSD or PSB. */
export interface PsdHeader extends Size {
  /** PSB, the large document format, whose lengths are wider. */
  large: boolean;
  /** All channels of the merged picture: the colour channels, then alpha and spot channels. */
  channels: number;
  depth: Depth;
  mode: ColourMode;
}

export const PSD_HEADER_BYTES = 26;

/** The largest side of a PSB. */
const MAX_SIDE = 300_000;

/** The colour mode of inks without names. */
const MULTICHANNEL = 7;

/** Colour modes by number, with the depths that Photoshop offers. */
const modes = new Map<number, { mode: ColourMode; depths: readonly Depth[]; leastChannels: number }>([
  [0, { mode: "bitmap", depths: [1], leastChannels: 1 }],
  [1, { mode: "greyscale", depths: [8, 16], leastChannels: 1 }],
  [2, { mode: "indexed", depths: [8], leastChannels: 1 }],
  [3, { mode: "rgb", depths: [8, 16], leastChannels: 3 }],
  [4, { mode: "cmyk", depths: [8, 16], leastChannels: 4 }],
  [8, { mode: "duotone", depths: [8, 16], leastChannels: 1 }],
  [9, { mode: "lab", depths: [8, 16], leastChannels: 3 }],
]);

/**
 * Reads the header. Throws `unsupported_media`.
 *
 * Source: Adobe Photoshop File Formats Specification, "File Header Section".
 */
export function readPsdHeader(bytes: Buffer): PsdHeader {
  if (bytes.toString("latin1", 0, 4) !== "8BPS") throw unreadablePsd("it has no PSD header");
  if (bytes.length < PSD_HEADER_BYTES) throw damaged();
  const version = bytes.readUInt16BE(4);
  const channels = bytes.readUInt16BE(12);
  const height = bytes.readUInt32BE(14);
  const width = bytes.readUInt32BE(18);
  const declaredDepth = bytes.readUInt16BE(22);
  const declaredMode = bytes.readUInt16BE(24);
  if (version !== 1 && version !== 2) throw unreadablePsd(`its version is ${version}`);
  const large = version === 2;
  // Photoshop writes PSDs of at most 30,000 pixels, but other writers do not stop there.
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE) {
    throw damaged(`it declares ${width} by ${height} pixels`);
  }
  if (declaredMode === MULTICHANNEL) throw unreadablePsd("it is multichannel: save it as RGB or CMYK");
  if (declaredDepth === 32) throw unreadablePsd("it has 32 bits a channel: save it with 8 or 16");
  const known = modes.get(declaredMode);
  if (known === undefined) throw unreadablePsd(`its colour mode is ${declaredMode}`);
  const { mode, depths, leastChannels } = known;
  const depth = depths.find((possible) => possible === declaredDepth);
  if (depth === undefined) throw unreadablePsd(`it declares ${declaredDepth} bits a channel as ${mode}`);
  if (channels < leastChannels || channels > 56) {
    throw unreadablePsd(`it declares ${channels} channels as ${mode}`);
  }
  return { width, height, large, channels, depth, mode };
}

export const PSD_TYPE = "image/x-photoshop";

/** The `unsupported_media` error for a PSD or PSB. `reason` is a clause without a full stop. */
export function unreadablePsd(reason: string): ServiceError {
  return unreadable(PSD_TYPE, reason);
}

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
  if (position + lengthBytes(long) > bytes.length) throw damaged();
  // Inexact beyond 2^53, but then it is past the end of any file.
  return long ? Number(bytes.readBigUInt64BE(position)) : bytes.readUInt32BE(position);
}

export function lengthBytes(long: boolean): 4 | 8 {
  return long ? 8 : 4;
}

function sectionAt(bytes: Buffer, position: number, long: boolean): { content: Buffer; end: number } {
  const start = position + lengthBytes(long);
  const end = start + readLength(bytes, position, long);
  if (end > bytes.length) throw damaged();
  return { content: bytes.subarray(start, end), end };
}
