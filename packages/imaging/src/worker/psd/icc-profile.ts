import type { ColourMode } from "./psd-header.ts";

const HEADER_BYTES = 128;

/** The colour space that a profile must be of. The others have no use for one. */
const spaces: Partial<Record<ColourMode, string>> = {
  greyscale: "GRAY",
  duotone: "GRAY",
  indexed: "RGB ",
  rgb: "RGB ",
  cmyk: "CMYK",
};

/**
 * The profile when it can be of use for the mode, else `null`: one that is broken must not cost the picture.
 *
 * Source: ICC.1:2022, 7.2.
 */
export function usableIccProfile(profile: Buffer | null, mode: ColourMode): Buffer | null {
  if (profile === null || profile.length < HEADER_BYTES) return null;
  if (profile.readUInt32BE(0) > profile.length) return null;
  if (profile.toString("latin1", 36, 40) !== "acsp") return null;
  return profile.toString("latin1", 16, 20) === spaces[mode] ? profile : null;
}
