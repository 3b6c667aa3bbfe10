import type { ServiceError } from "@outrigger/core";
import type { Size } from "@outrigger/core/images";
import { unreadable } from "../unreadable.ts";

/** How the channels form a colour. */
export type ColourMode =
  | "bitmap"
  | "greyscale"
  | "indexed"
  | "rgb"
  | "cmyk"
  | "multichannel"
  | "duotone"
  | "lab";

/** Bits of a sample: 32 are a float. */
export type Depth = 1 | 8 | 16 | 32;

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

/** Colour modes by number, with the depths that Photoshop offers. */
const modes = new Map<number, { mode: ColourMode; depths: readonly Depth[]; leastChannels: number }>([
  [0, { mode: "bitmap", depths: [1], leastChannels: 1 }],
  [1, { mode: "greyscale", depths: [8, 16, 32], leastChannels: 1 }],
  [2, { mode: "indexed", depths: [8], leastChannels: 1 }],
  [3, { mode: "rgb", depths: [8, 16, 32], leastChannels: 3 }],
  [4, { mode: "cmyk", depths: [8, 16], leastChannels: 4 }],
  [7, { mode: "multichannel", depths: [8, 16], leastChannels: 1 }],
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
  if (bytes.length < PSD_HEADER_BYTES) throw truncatedPsd();
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
    throw unreadablePsd(`it declares ${width} by ${height} pixels`);
  }
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
export function unreadablePsd(reason: string, cause?: unknown): ServiceError {
  return unreadable(PSD_TYPE, reason, cause);
}

/** The `unsupported_media` error for a file that ends before what it declares. */
export function truncatedPsd(cause?: unknown): ServiceError {
  return unreadablePsd("it is truncated", cause);
}
