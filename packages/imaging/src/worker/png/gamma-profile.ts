/** White, red, green and blue of sRGB: x and y times 100,000, as `cHRM` of PNG has them. */
export const SRGB_PRIMARIES: readonly number[] = [
  31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6000,
];

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
export function writeGammaProfile(exponent: number, primaries: readonly number[] | null): Buffer {
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
