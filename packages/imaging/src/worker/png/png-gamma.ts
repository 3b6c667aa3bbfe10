import { deflateSync } from "node:zlib";
import sharp, { type SharpOptions } from "sharp";
import { SRGB_PRIMARIES, writeGammaProfile } from "./gamma-profile.ts";
import { isSound, PNG_SIGNATURE, readPngChunks, writePngChunk } from "./png-chunks.ts";

/** Chunks that describe the colours completely and overrule `gAMA` and `cHRM`. */
const profiles = new Set(["cICP", "iCCP", "sRGB"]);
/** The value of `gAMA` that stands for sRGB. */
const SRGB_GAMMA = 45_455;
/** The deviation of `gAMA` up to which Chromium ignores it, as a share. */
const NEUTRAL_SHARE = 0.04;
/** A deviation of `cHRM` by rounding. */
const NEUTRAL_PRIMARY = 300;
/** Values of `gAMA` beyond these are damage. */
const [MIN_GAMMA, MAX_GAMMA] = [5000, 1_000_000];
/** Twice the area of the smallest triangle of primaries; that of sRGB is 2.2e9. */
const MIN_AREA = 1e7;
/** IHDR is first and has a fixed length. */
const HEADER_END = PNG_SIGNATURE.length + 25;

/** The colours that `gAMA` and `cHRM` of a PNG describe. */
export interface PngGamma {
  /** Light is the stored value to the power of this. */
  exponent: number;
  /** As {@link SRGB_PRIMARIES}. */
  primaries: readonly number[];
  isGrey: boolean;
  depth: number;
}

/**
 * The colours of a PNG whose `gAMA` and `cHRM` libvips ignores and browsers apply. `null` if they describe sRGB, or are
 * absent, damaged or overruled by a profile. As in browsers, `cHRM` counts only beside `gAMA`, and not for grey.
 *
 * Source: PNG specification, third edition, sections 4.3 and 11.3.2.
 */
export function readPngGamma(bytes: Buffer): PngGamma | null {
  let isGrey = false;
  let depth = 8;
  let gamma = 0;
  let primaries = SRGB_PRIMARIES;
  for (const chunk of readPngChunks(bytes)) {
    const { type, data } = chunk;
    if (type === "IDAT") break;
    if (profiles.has(type)) return null;
    if (type === "IHDR" && data.length === 13) {
      isGrey = (data.readUInt8(9) & 2) === 0;
      depth = data.readUInt8(8);
    } else if (type === "gAMA" && data.length === 4 && gamma === 0 && isSound(bytes, chunk)) {
      gamma = data.readUInt32BE();
    } else if (type === "cHRM" && data.length === 32 && isSound(bytes, chunk)) {
      primaries = SRGB_PRIMARIES.map((_, index) => data.readUInt32BE(4 * index));
    }
  }
  if (gamma < MIN_GAMMA || gamma > MAX_GAMMA || !isTriangle(primaries)) return null;
  const isSrgbCurve = Math.abs(gamma / SRGB_GAMMA - 1) <= NEUTRAL_SHARE;
  if (isSrgbCurve && (isGrey || isSrgbPrimaries(primaries))) return null;
  return { exponent: 100_000 / gamma, primaries, isGrey, depth };
}

/** The PNG with a colour profile in place of its `gAMA`. */
export async function withGammaProfile(
  bytes: Buffer,
  { exponent, primaries, isGrey, depth }: PngGamma,
  options: SharpOptions,
): Promise<Buffer> {
  // sharp ignores the profile of a grey picture with 16 bits.
  const becomesRgb = isGrey && depth === 16;
  const png = becomesRgb
    ? await sharp(bytes, { ...options, autoOrient: true })
        .toColourspace("rgb16")
        .png({ compressionLevel: 1 })
        .toBuffer()
    : bytes;
  const profile = writeGammaProfile(exponent, isGrey ? (becomesRgb ? SRGB_PRIMARIES : null) : primaries);
  const chunk = writePngChunk("iCCP", Buffer.concat([Buffer.from("gAMA\0\0"), deflateSync(profile)]));
  return Buffer.concat([png.subarray(0, HEADER_END), chunk, png.subarray(HEADER_END)]);
}

/** Whether the chromaticities span colours: others are damage. */
function isTriangle([, whiteY = 0, ...corners]: readonly number[]): boolean {
  const [redX = 0, redY = 0, greenX = 0, greenY = 0, blueX = 0, blueY = 0] = corners;
  const area = (greenX - redX) * (blueY - redY) - (blueX - redX) * (greenY - redY);
  return Math.min(whiteY, redY, greenY, blueY) > 0 && Math.abs(area) > MIN_AREA;
}

function isSrgbPrimaries(primaries: readonly number[]): boolean {
  return primaries.every((value, index) => Math.abs(value - (SRGB_PRIMARIES[index] ?? 0)) <= NEUTRAL_PRIMARY);
}
