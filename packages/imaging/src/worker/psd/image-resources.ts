import type { ColourMode } from "./psd-header.ts";

/** The image resources that decide how the pixels are read. */
export interface ImageResources {
  /** The embedded profile, not validated. */
  iccProfile: Buffer | null;
  /** False for a file saved without "maximize compatibility", whose merged picture is blank. */
  hasMergedPicture: boolean;
  /** The transparent entry of the palette of an indexed picture. */
  transparentIndex: number | null;
  /** IDs of the channels after the colours, in their order: 0 is the transparency. Empty in old files. */
  alphaIds: readonly number[];
  /** Names of these channels. */
  alphaNames: readonly string[];
}

const ALPHA_NAMES = 1006;
const ICC_PROFILE = 1039;
const UNICODE_ALPHA_NAMES = 1045;
const TRANSPARENCY_INDEX = 1047;
const ALPHA_IDS = 1053;
const VERSION_INFO = 1057;

/** Channels of a file. */
const MAX_CHANNELS = 56;

const signatures = new Set(["8BIM", "MeSa", "AgHg", "PHUT", "DCSR"]);

/**
 * Reads the image resources. Damage ends the walk without an error, because the pixels do not depend on them.
 *
 * Source: Adobe Photoshop File Formats Specification, "Image Resource Blocks".
 */
export function readImageResources(section: Buffer): ImageResources {
  const resources: ImageResources = {
    iccProfile: null,
    hasMergedPicture: true,
    transparentIndex: null,
    alphaIds: [],
    alphaNames: [],
  };
  let position = 0;
  while (
    position + 12 <= section.length &&
    signatures.has(section.toString("latin1", position, position + 4))
  ) {
    const id = section.readUInt16BE(position + 4);
    const nameBytes = 1 + section.readUInt8(position + 6);
    const lengthAt = position + 6 + padToEven(nameBytes);
    if (lengthAt + 4 > section.length) break;
    const start = lengthAt + 4;
    const end = start + section.readUInt32BE(lengthAt);
    if (end > section.length) break;
    keepResource(resources, id, section.subarray(start, end));
    position = start + padToEven(end - start);
  }
  return resources;
}

function keepResource(resources: ImageResources, id: number, data: Buffer): void {
  if (id === ICC_PROFILE) resources.iccProfile = data;
  if (id === TRANSPARENCY_INDEX && data.length >= 2) resources.transparentIndex = data.readUInt16BE();
  // Four bytes of version come before the flag.
  if (id === VERSION_INFO && data.length >= 5) resources.hasMergedPicture = data.readUInt8(4) !== 0;
  if (id === ALPHA_IDS) resources.alphaIds = readIds(data);
  if (id === ALPHA_NAMES && resources.alphaNames.length === 0) resources.alphaNames = readNames(data);
  // Names in Unicode also hold what the other ones cannot encode.
  if (id === UNICODE_ALPHA_NAMES) resources.alphaNames = readUnicodeNames(data);
}

function readIds(data: Buffer): number[] {
  const count = Math.min(MAX_CHANNELS, Math.floor(data.length / 4));
  return Array.from({ length: count }, (_, index) => data.readUInt32BE(index * 4));
}

/** A byte of length before each name. */
function readNames(data: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at < data.length && names.length < MAX_CHANNELS; ) {
    const end = at + 1 + data.readUInt8(at);
    names.push(data.toString("latin1", at + 1, end));
    at = end;
  }
  return names;
}

/** Four bytes of length before each name, in UTF-16, which some writers end with a zero. */
function readUnicodeNames(data: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at + 4 <= data.length && names.length < MAX_CHANNELS; ) {
    const end = at + 4 + data.readUInt32BE(at) * 2;
    // Copied, because swapping works in place.
    const text = Buffer.from(data.subarray(at + 4, end));
    if (text.length % 2 !== 0) break;
    names.push(text.swap16().toString("utf16le").replace(/\0+$/, ""));
    at = end;
  }
  return names;
}

function padToEven(bytes: number): number {
  return bytes + (bytes % 2);
}

const HEADER_BYTES = 128;

/** The colour space that a profile must have for each mode. Other modes use no profile. */
const spaces: Partial<Record<ColourMode, string>> = {
  greyscale: "GRAY",
  duotone: "GRAY",
  indexed: "RGB ",
  rgb: "RGB ",
  cmyk: "CMYK",
};

/**
 * The profile if it is usable for the mode, else `null`: a broken profile must not make the picture unreadable.
 *
 * Source: ICC.1:2022, 7.2.
 */
export function usableIccProfile(profile: Buffer | null, mode: ColourMode): Buffer | null {
  if (profile === null || profile.length < HEADER_BYTES) return null;
  if (profile.readUInt32BE(0) > profile.length) return null;
  if (profile.toString("latin1", 36, 40) !== "acsp") return null;
  return profile.toString("latin1", 16, 20) === spaces[mode] ? profile : null;
}
