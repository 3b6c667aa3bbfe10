import { deflateSync } from "node:zlib";

/** Numbers of the colour modes in the header of a PSD. */
const PSD_MODES = {
  bitmap: 0,
  greyscale: 1,
  indexed: 2,
  rgb: 3,
  cmyk: 4,
  multichannel: 7,
  duotone: 8,
  lab: 9,
} as const;

/** Numbers of the compressions. */
export const PSD_COMPRESSIONS = { raw: 0, packed: 1, zip: 2, predicted: 3 } as const;

export interface SamplePsd {
  width: number;
  height: number;
  mode?: keyof typeof PSD_MODES;
  depth?: 1 | 8 | 16 | 32;
  /** A PSB. */
  large?: boolean;
  compression?: keyof typeof PSD_COMPRESSIONS;
  /** Samples of each channel as they are stored, row by row; bits as 0 and 1. */
  channels: readonly (readonly number[])[];
  palette?: Buffer;
  iccProfile?: Buffer;
  transparentIndex?: number;
  /** What the version info says of the merged picture. Without it there is no version info. */
  hasMergedPicture?: boolean;
  /** Further image resources, as `resource` writes them. */
  resources?: readonly Buffer[];
  /** The number of layers, or all that the section of layers holds. @default an empty section */
  layers?: number | Buffer;
}

/** A PSD or PSB, written by the specification alone. */
export function samplePsd(sample: SamplePsd): Buffer {
  const { mode = "rgb", depth = 8, large = false, compression = "packed" } = sample;
  const header = Buffer.alloc(26);
  header.write("8BPS", "latin1");
  header.writeUInt16BE(large ? 2 : 1, 4);
  header.writeUInt16BE(sample.channels.length, 12);
  header.writeUInt32BE(sample.height, 14);
  header.writeUInt32BE(sample.width, 18);
  header.writeUInt16BE(depth, 22);
  header.writeUInt16BE(PSD_MODES[mode], 24);
  const rows = sample.channels.flatMap((channel) => rowsOf(channel, sample.width, depth));
  return Buffer.concat([
    header,
    section(sample.palette ?? Buffer.alloc(0)),
    section(resources(sample)),
    section(layerSection(sample, depth, large), large),
    Buffer.of(0, PSD_COMPRESSIONS[compression]),
    compressRows(rows, compression, depth, large),
  ]);
}

/** Four or eight bytes of length, and the content. */
export function section(content: Buffer, large = false): Buffer {
  const length = Buffer.alloc(large ? 8 : 4);
  length.writeUIntBE(content.length, large ? 2 : 0, large ? 6 : 4);
  return Buffer.concat([length, content]);
}

/** A block of image resources without a name. */
export function resource(id: number, data: Buffer): Buffer {
  const head = Buffer.from("8BIM\0\0\0\0\0\0\0\0", "latin1");
  head.writeUInt16BE(id, 4);
  head.writeUInt32BE(data.length, 8);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

function resources(sample: SamplePsd): Buffer {
  const { iccProfile, transparentIndex, hasMergedPicture } = sample;
  const blocks = [resource(1005, Buffer.alloc(16))];
  if (iccProfile) blocks.push(resource(1039, iccProfile));
  if (transparentIndex !== undefined) blocks.push(resource(1047, Buffer.of(0, transparentIndex)));
  if (hasMergedPicture !== undefined) {
    blocks.push(
      resource(1057, Buffer.of(0, 0, 0, 1, Number(hasMergedPicture), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)),
    );
  }
  return Buffer.concat([...blocks, ...(sample.resources ?? [])]);
}

/** The image resource that lists the IDs of the channels after the colours. */
export function alphaIds(...ids: number[]): Buffer {
  return resource(
    1053,
    Buffer.from(ids.flatMap((id) => [id >>> 24, (id >> 16) & 0xff, (id >> 8) & 0xff, id & 0xff])),
  );
}

/** The image resource that names the channels after the colours. */
export function alphaNames(...names: string[]): Buffer {
  return resource(
    1006,
    Buffer.concat(names.map((name) => Buffer.from([name.length, ...Buffer.from(name, "latin1")]))),
  );
}

/** The same in Unicode. */
export function unicodeAlphaNames(...names: string[]): Buffer {
  const each = names.map((name) => {
    const text = Buffer.from(`${name}\0`, "utf16le").swap16();
    return Buffer.concat([Buffer.of(0, 0, 0, text.length / 2), text]);
  });
  return resource(1045, Buffer.concat(each));
}

/** A number of layers is where a reader looks for it first; for 16 and 32 bits that is a block of its own. */
function layerSection({ layers }: SamplePsd, depth: number, large: boolean): Buffer {
  if (layers === undefined) return Buffer.alloc(0);
  if (typeof layers !== "number") return layers;
  const count = Buffer.alloc(4);
  count.writeInt16BE(layers);
  if (depth <= 8) return Buffer.concat([section(count, large), section(Buffer.alloc(0))]);
  return Buffer.concat([
    section(Buffer.alloc(0), large),
    section(Buffer.alloc(0)),
    Buffer.from(`8BIMLr${depth}`, "latin1"),
    section(count, large),
  ]);
}

/** The bytes of each row of samples. */
export function rowsOf(samples: readonly number[], width: number, depth: number): Buffer[] {
  const rows: Buffer[] = [];
  for (let start = 0; start < samples.length; start += width) {
    rows.push(rowOf(samples.slice(start, start + width), depth));
  }
  return rows;
}

function rowOf(samples: readonly number[], depth: number): Buffer {
  if (depth === 8) return Buffer.from(samples);
  const row = Buffer.alloc(Math.ceil((samples.length * depth) / 8));
  samples.forEach((sample, x) => {
    if (depth === 1) row[x >> 3] = (row[x >> 3] ?? 0) | (sample << (7 - (x & 7)));
    else if (depth === 16) row.writeUInt16BE(sample, x * 2);
    else row.writeFloatBE(sample, x * 4);
  });
  return row;
}

/** What follows the number of the compression: all rows of a merged picture, or those of one channel of a layer. */
export function compressRows(
  rows: readonly Buffer[],
  compression: keyof typeof PSD_COMPRESSIONS,
  depth: number,
  large: boolean,
): Buffer {
  if (compression === "raw") return Buffer.concat(rows);
  if (compression === "zip") return deflateSync(Buffer.concat(rows));
  if (compression === "predicted") return deflateSync(Buffer.concat(rows.map((row) => predict(row, depth))));
  const packed = rows.map(packRow);
  const counts = Buffer.alloc(rows.length * (large ? 4 : 2));
  packed.forEach((row, index) => {
    counts.writeUIntBE(row.length, index * (large ? 4 : 2), large ? 4 : 2);
  });
  return Buffer.concat([counts, ...packed]);
}

/** PackBits of pairs and single bytes, with a code that means nothing before each. */
function packRow(row: Buffer): Buffer {
  const packed: number[] = [];
  for (let x = 0; x < row.length; x++) {
    const value = row[x] ?? 0;
    if (row[x + 1] === value) {
      packed.push(0x80, 0xff, value);
      x++;
    } else packed.push(0x80, 0, value);
  }
  return Buffer.from(packed);
}

function predict(row: Buffer, depth: number): Buffer {
  const bytes = depth === 32 ? bySignificance(row) : row;
  const differences = Buffer.from(bytes);
  if (depth === 16) {
    for (let x = 2; x < bytes.length; x += 2) {
      differences.writeUInt16BE((bytes.readUInt16BE(x) - bytes.readUInt16BE(x - 2)) & 0xffff, x);
    }
  } else for (let x = 1; x < bytes.length; x++) differences[x] = (bytes[x] ?? 0) - (bytes[x - 1] ?? 0);
  return differences;
}

/** All first bytes of the floats of a row, then all second ones. */
function bySignificance(row: Buffer): Buffer {
  return Buffer.concat([0, 1, 2, 3].map((byte) => row.filter((_, index) => index % 4 === byte)));
}
