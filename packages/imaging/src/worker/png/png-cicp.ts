import { deflateSync } from "node:zlib";
import sharp, { type SharpOptions } from "sharp";
import { isSound, PNG_SIGNATURE, readPngChunks, writePngChunk } from "./png-chunks.ts";

/** Chunks that describe the colours completely, which `cICP` overrules. */
const profiles = new Set(["iCCP", "sRGB"]);
/** The last bytes of a lawful `cICP`: no matrix, and all values of a sample. */
const FULL_RANGE_RGB = 1;
/** IHDR is first and has a fixed length. */
const HEADER_END = PNG_SIGNATURE.length + 25;

/** White, red, green and blue of sRGB: x and y times 100,000. */
export const SRGB_PRIMARIES: readonly number[] = [
  31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6000,
];
const BT601 = [31_270, 32_900, 63_000, 34_000, 31_000, 59_500, 15_500, 7000];

/** The primaries of `cICP` that browsers apply, as {@link SRGB_PRIMARIES}. Source: ITU-T H.273, table 2. */
export const cicpPrimaries: Readonly<Record<number, readonly number[]>> = {
  1: SRGB_PRIMARIES,
  4: [31_000, 31_600, 67_000, 33_000, 21_000, 71_000, 14_000, 8000],
  5: [31_270, 32_900, 64_000, 33_000, 29_000, 60_000, 15_000, 6000],
  6: BT601,
  7: BT601,
  8: [31_000, 31_600, 68_100, 31_900, 24_300, 69_200, 14_500, 4900],
  9: [31_270, 32_900, 70_800, 29_200, 17_000, 79_700, 13_100, 4600],
  10: [33_333, 33_333, 100_000, 0, 0, 100_000, 0, 0],
  11: [31_400, 35_100, 68_000, 32_000, 26_500, 69_000, 15_000, 6000],
  12: [31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6000],
  22: [31_270, 32_900, 63_000, 34_000, 29_500, 60_500, 15_500, 7700],
};

export const SRGB_CURVE = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045];

/**
 * The curves of `cICP` that browsers apply, without those of HDR (16 and 18). Video is shown as screens do. Sources: ITU-T H.273,
 * table 3; ITU-R BT.1886.
 */
export const cicpCurves: Readonly<Record<number, readonly number[]>> = {
  ...{ 1: [2.4], 6: [2.4], 11: [2.4], 14: [2.4], 15: [2.4] },
  ...{ 4: [2.2], 5: [2.8], 8: [1], 13: SRGB_CURVE },
  7: [1 / 0.45, 1 / 1.1115, 0.1115 / 1.1115, 1 / 4, 0.0913],
  17: [2.6, (52.37 / 48) ** (1 / 2.6), 0, 1, 0],
};

/** The colours that a PNG describes by `cICP`. */
interface PngCicp {
  /**
   * Parameters g, a, b, c, d of the curve from a stored value v to light: (a·v + b)^g, below d c·v. One parameter: v^g.
   */
  curve: readonly number[];
  /** As {@link SRGB_PRIMARIES}. */
  primaries: readonly number[];
  isGrey: boolean;
  depth: number;
}

/**
 * The colours of a PNG whose `cICP` libvips ignores and browsers apply. `null` if it describes sRGB, is absent or damaged, or has other
 * values than those above, a matrix or a narrow range.
 *
 * Source: PNG specification, third edition, sections 4.3 and 11.3.2.
 */
export function readPngCicp(bytes: Buffer): PngCicp | null {
  let isGrey = false;
  let depth = 8;
  let hasProfile = false;
  let cicp: Buffer | null = null;
  for (const chunk of readPngChunks(bytes)) {
    const { type, data } = chunk;
    if (type === "IDAT") break;
    if (type === "iCCP") hasProfile = true;
    else if (type === "IHDR" && data.length === 13) {
      isGrey = (data.readUInt8(9) & 2) === 0;
      depth = data.readUInt8(8);
    } else if (type === "cICP" && data.length === 4 && cicp === null && isSound(bytes, chunk)) {
      cicp = data;
    }
  }
  const [primaries, curve] = [cicpPrimaries[cicp?.[0] ?? 0], cicpCurves[cicp?.[1] ?? 0]];
  if (!primaries || !curve || cicp?.readUInt16BE(2) !== FULL_RANGE_RGB) return null;
  const isSrgb = curve === SRGB_CURVE && (isGrey || primaries === SRGB_PRIMARIES);
  return isSrgb && !hasProfile ? null : { curve, primaries, isGrey, depth };
}

/** The PNG with a colour profile in place of its own and of `cICP`. */
export async function withCicpProfile(
  bytes: Buffer,
  { curve, primaries, isGrey, depth }: PngCicp,
  options: SharpOptions,
): Promise<Buffer> {
  // sharp ignores the profile of a grey picture with 16 bits.
  const becomesRgb = isGrey && depth === 16;
  const png = becomesRgb
    ? await sharp(bytes, options).keepExif().toColourspace("rgb16").png({ compressionLevel: 1 }).toBuffer()
    : bytes;
  const profile = writeColourProfile(curve, isGrey ? (becomesRgb ? SRGB_PRIMARIES : null) : primaries);
  return withProfile(png, profile);
}

/** The PNG with this colour profile in place of its own. */
export function withProfile(png: Buffer, profile: Buffer): Buffer {
  const chunk = writePngChunk("iCCP", Buffer.concat([Buffer.from("cICP\0\0"), deflateSync(profile)]));
  const kept = [...readPngChunks(png)].filter(
    ({ type, start }) => start >= HEADER_END && !profiles.has(type),
  );
  return Buffer.concat([
    png.subarray(0, HEADER_END),
    chunk,
    ...kept.map(({ start, end }) => png.subarray(start, end)),
  ]);
}

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
 * An ICC profile of a curve.
 * @param values As {@link PngCicp.curve}. @param primaries As {@link SRGB_PRIMARIES}; `null` for grey, and then white is neutral.
 *
 * Source: ICC.1:2010, sections 7.2, 8.3 and 10.
 */
export function writeColourProfile(values: readonly number[], primaries: readonly number[] | null): Buffer {
  const curve = Buffer.alloc(12 + 4 * values.length);
  curve.write("para");
  curve.writeUInt16BE(values.length === 1 ? 0 : 3, 8);
  for (const [index, value] of values.entries()) curve.writeInt32BE(fixed(value), 12 + 4 * index);
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
  const [white, red, green, blue] = [0, 2, 4, 6].map((at): Vector => {
    const [x = 0, y = 0] = primaries.slice(at);
    // The white has Y = 1; the others are scaled so that they add up to it.
    const scale = at === 0 ? y : 100_000;
    return [x / scale, y / scale, (100_000 - x - y) / scale];
  });
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
