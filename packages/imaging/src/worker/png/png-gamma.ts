import { deflateSync } from "node:zlib";
import sharp, { type SharpOptions } from "sharp";
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
interface PngGamma {
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

/** White, red, green and blue of sRGB: x and y times 100,000, as `cHRM` of PNG has them. */
const SRGB_PRIMARIES: readonly number[] = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6000];

type Vector = [number, number, number];
/** By rows. */
type Matrix = [Vector, Vector, Vector];

/** The white of ICC profiles. */
const D50: Vector = [0.964_2, 1, 0.824_9];
/** Cone responses of XYZ. Source: ICC.1:2010, annex E. */
const BRADFORD: Matrix = [
  [0.8951, 0.2664, -0.1614],
  [-0.7502, 1.7135, 0.0367],
  [0.0389, -0.0685, 1.0296],
];
const HEADER_BYTES = 128;

/**
 * An ICC profile of a power curve: light is the stored value to the power of `exponent`.
 * @param primaries As {@link SRGB_PRIMARIES}; `null` for grey, and then white is neutral.
 *
 * Source: ICC.1:2010, sections 7.2, 8.3 and 10.
 */
function writeGammaProfile(exponent: number, primaries: readonly number[] | null): Buffer {
  const curve = Buffer.alloc(16);
  curve.write("para");
  curve.writeInt32BE(fixed(exponent), 12);
  const tags: [string, Buffer][] = [["wtpt", writeXyz(D50)]];
  if (primaries === null) tags.push(["kTRC", curve]);
  else {
    const columns = transposed(adaptedColorants(primaries));
    for (const [index, colour] of ["r", "g", "b"].entries()) {
      tags.push([`${colour}XYZ`, writeXyz(columns[index] ?? D50)], [`${colour}TRC`, curve]);
    }
  }
  return assemble(tags, primaries === null ? "GRAY" : "RGB ");
}

function assemble(tags: readonly [string, Buffer][], space: string): Buffer {
  const table = Buffer.alloc(4 + 12 * tags.length);
  table.writeUInt32BE(tags.length);
  let offset = HEADER_BYTES + table.length;
  for (const [index, [name, data]] of tags.entries()) {
    table.write(name, 4 + 12 * index);
    table.writeUInt32BE(offset, 8 + 12 * index);
    table.writeUInt32BE(data.length, 12 + 12 * index);
    offset += data.length;
  }
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(offset);
  header.writeUInt32BE(0x04200000, 8);
  header.write(`mntr${space}XYZ `, 12);
  header.write("acsp", 36);
  for (const [index, value] of D50.entries()) header.writeInt32BE(fixed(value), 68 + 4 * index);
  return Buffer.concat([header, table, ...tags.map(([, data]) => data)]);
}

/** s15Fixed16Number. */
function fixed(value: number): number {
  return Math.round(Math.min(32_767, Math.max(-32_768, value)) * 65_536);
}

function writeXyz(xyz: Vector): Buffer {
  const tag = Buffer.alloc(20);
  tag.write("XYZ ");
  for (const [index, value] of xyz.entries()) tag.writeInt32BE(fixed(value), 8 + 4 * index);
  return tag;
}

/** XYZ of red, green and blue in columns, adapted from their white to D50. */
function adaptedColorants(primaries: readonly number[]): Matrix {
  const [white, red, green, blue] = [0, 2, 4, 6].map((at) =>
    xyzOf(primaries[at] ?? 0, primaries[at + 1] ?? 0),
  );
  if (white === undefined || red === undefined || green === undefined || blue === undefined) {
    throw new TypeError("A profile needs four chromaticities");
  }
  const colours = transposed([red, green, blue]);
  const [r, g, b] = times(inverse(colours), white);
  const scaled = colours.map(([x, y, z]) => [x * r, y * g, z * b]) as Matrix; // Three rows of three.
  const [from, to] = [times(BRADFORD, white), times(BRADFORD, D50)];
  const scale: Matrix = [
    [to[0] / from[0], 0, 0],
    [0, to[1] / from[1], 0],
    [0, 0, to[2] / from[2]],
  ];
  const adaptation = product(inverse(BRADFORD), product(scale, BRADFORD));
  return product(adaptation, scaled);
}

/** XYZ of a chromaticity with Y = 1. */
function xyzOf(x: number, y: number): Vector {
  return [x / y, 1, (100_000 - x - y) / y];
}

function times([a, b, c]: Matrix, [x, y, z]: Vector): Vector {
  return [a[0] * x + a[1] * y + a[2] * z, b[0] * x + b[1] * y + b[2] * z, c[0] * x + c[1] * y + c[2] * z];
}

function transposed([a, b, c]: Matrix): Matrix {
  return [
    [a[0], b[0], c[0]],
    [a[1], b[1], c[1]],
    [a[2], b[2], c[2]],
  ];
}

function product(some: Matrix, other: Matrix): Matrix {
  const [x, y, z] = transposed(other);
  return transposed([times(some, x), times(some, y), times(some, z)]);
}

function inverse([a, b, c]: Matrix): Matrix {
  const cross = (p: Vector, q: Vector): Vector => [
    p[1] * q[2] - p[2] * q[1],
    p[2] * q[0] - p[0] * q[2],
    p[0] * q[1] - p[1] * q[0],
  ];
  const [bc, ca, ab] = [cross(b, c), cross(c, a), cross(a, b)];
  const determinant = a[0] * bc[0] + a[1] * bc[1] + a[2] * bc[2];
  const scale = (v: Vector): Vector => [v[0] / determinant, v[1] / determinant, v[2] / determinant];
  return transposed([scale(bc), scale(ca), scale(ab)]);
}
