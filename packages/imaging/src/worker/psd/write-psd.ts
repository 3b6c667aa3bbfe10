import type { Pixels } from "../libvips.ts";
import { maxPackedBytes, packBits } from "./pack-bits.ts";

const MAX_SIDE = 30_000;
const RGB_MODE = 3;
const PACKED = 1;

/**
 * Writes interleaved 8-bit sRGB, with alpha if there are four channels, as a PSD at 72 dpi: the merged picture and,
 * with alpha, one layer. Throws `RangeError` for a side of 0 or more than 30,000 pixels, and for a number of bytes that
 * does not match the size.
 *
 * Source: Adobe Photoshop File Formats Specification.
 */
export function writePsd(
  pixels: Buffer,
  { width, height, channels }: { width: number; height: number; channels: 3 | 4 },
): Buffer {
  const picture: Pixels = { pixels, width, height, channels };
  checkPicture(picture);
  const head = Buffer.concat([header(picture), Buffer.alloc(4), imageResources()]);
  // The largest possible size. Unused bytes are never touched, so they take no memory.
  const layerBytes = channels === 4 ? maxLayerBytes(picture) : 4;
  const file = Buffer.allocUnsafe(head.length + layerBytes + 2 + channels * maxChannelBytes(picture));
  head.copy(file);
  if (channels === 3) {
    const end = file.writeUInt32BE(0, head.length);
    return file.subarray(0, writeMergedPicture(picture, null, file, end));
  }
  const layer = writeLayer(picture, file, head.length);
  return file.subarray(0, writeMergedPicture(picture, layer, file, layer.end));
}

function checkPicture({ pixels, width, height, channels }: Pixels): void {
  for (const side of [width, height]) {
    if (!Number.isInteger(side) || side < 1 || side > MAX_SIDE) {
      throw new RangeError(`A PSD cannot be ${width} by ${height} pixels`);
    }
  }
  if (pixels.length !== width * height * channels) {
    throw new RangeError(`${width} by ${height} pixels of ${channels} bytes are not ${pixels.length} bytes`);
  }
}

function header({ width, height, channels }: Pixels): Buffer {
  const bytes = Buffer.alloc(26);
  bytes.write("8BPS", "latin1");
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt16BE(channels, 12);
  bytes.writeUInt32BE(height, 14);
  bytes.writeUInt32BE(width, 18);
  bytes.writeUInt16BE(8, 22);
  bytes.writeUInt16BE(RGB_MODE, 24);
  return bytes;
}

/** The section with its length. */
function imageResources(): Buffer {
  const pixelsPerInch = 72 * 0x10000;
  const resolution = Buffer.alloc(16);
  for (const at of [0, 8]) {
    resolution.writeUInt32BE(pixelsPerInch, at);
    // Display units: pixels per inch, and inches for lengths.
    resolution.writeUInt16BE(1, at + 4);
    resolution.writeUInt16BE(1, at + 6);
  }
  // Version 1, with a merged picture, names of writer and reader empty, file version 1.
  const versionInfo = Buffer.of(0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
  const blocks = Buffer.concat([imageResource(1005, resolution), imageResource(1057, versionInfo)]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(blocks.length);
  return Buffer.concat([length, blocks]);
}

function imageResource(id: number, data: Buffer): Buffer {
  const head = Buffer.from("8BIM\0\0\0\0\0\0\0\0", "latin1");
  head.writeUInt16BE(id, 4);
  head.writeUInt32BE(data.length, 8);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

/** @returns the position after the picture, which is the end of the file. */
function writeMergedPicture(
  picture: Pixels,
  layer: WrittenLayer | null,
  file: Buffer,
  start: number,
): number {
  const countsAt = file.writeUInt16BE(PACKED, start);
  const bytesOfCounts = countsBytes(picture);
  let dataAt = countsAt + picture.channels * bytesOfCounts;
  for (let channel = 0; channel < 3; channel++) {
    const places = { countsAt: countsAt + channel * bytesOfCounts, dataAt, onWhite: layer !== null };
    dataAt = packChannel(picture, channel, file, places);
  }
  if (layer === null) return dataAt;
  const { alpha } = layer;
  file.copy(file, countsAt + 3 * bytesOfCounts, alpha.countsAt, alpha.countsAt + bytesOfCounts);
  return dataAt + file.copy(file, dataAt, alpha.dataAt, alpha.end);
}

const NAME = "Layer 0";
/** Alpha, red, green, blue. */
const CHANNEL_IDS = [-1, 0, 1, 2];
const RECORD_BYTES = 16 + 2 + CHANNEL_IDS.length * 6 + 12 + 4 + 16;
/** The length of the section, that of the layer info, and the number of layers. */
const HEAD_BYTES = 4 + 4 + 2;

/** The maximum bytes that {@link writeLayer} needs. */
function maxLayerBytes(picture: Pixels): number {
  return HEAD_BYTES + RECORD_BYTES + CHANNEL_IDS.length * (2 + maxChannelBytes(picture)) + 1 + 4;
}

/** The position of the layer's packed alpha, which is also the merged picture's. */
interface WrittenLayer {
  end: number;
  alpha: { countsAt: number; dataAt: number; end: number };
}

/**
 * Writes a section with one layer that holds the whole picture. The negative layer count tells readers that the merged
 * picture has alpha.
 *
 * Source: Adobe Photoshop File Formats Specification, "Layer and Mask Information Section".
 */
function writeLayer(picture: Pixels, file: Buffer, start: number): WrittenLayer {
  file.writeInt16BE(-1, start + 8);
  const recordAt = start + HEAD_BYTES;
  const lengthsAt = writeRecord(picture, file, recordAt);
  let end = recordAt + RECORD_BYTES;
  const alpha = { countsAt: end + 2, dataAt: end + 2 + countsBytes(picture), end: 0 };
  CHANNEL_IDS.forEach((id, index) => {
    const channelAt = end;
    const countsAt = file.writeUInt16BE(PACKED, channelAt);
    const dataAt = countsAt + countsBytes(picture);
    end = packChannel(picture, id < 0 ? 3 : id, file, { countsAt, dataAt, onWhite: false });
    if (id < 0) alpha.end = end;
    file.writeInt16BE(id, lengthsAt + index * 6);
    file.writeUInt32BE(end - channelAt, lengthsAt + index * 6 + 2);
  });
  // The length of the layer info is even.
  if ((end - start) % 2 === 1) end = file.writeUInt8(0, end);
  file.writeUInt32BE(end - start - 8, start + 4);
  // No global layer mask.
  end = file.writeUInt32BE(0, end);
  file.writeUInt32BE(end - start - 4, start);
  return { end, alpha };
}

/** @returns the position of the channel IDs and lengths. */
function writeRecord({ width, height }: Pixels, file: Buffer, start: number): number {
  file.fill(0, start, start + RECORD_BYTES);
  file.writeUInt32BE(height, start + 8);
  file.writeUInt32BE(width, start + 12);
  file.writeUInt16BE(CHANNEL_IDS.length, start + 16);
  const lengthsAt = start + 18;
  const blendingAt = lengthsAt + CHANNEL_IDS.length * 6;
  file.write("8BIMnorm", blendingAt, "latin1");
  file.writeUInt8(255, blendingAt + 8);
  // Opaque, not clipped, visible, with the flag that Photoshop sets since version 5.
  file.writeUInt8(0x08, blendingAt + 10);
  // Lengths: no mask, no blending ranges, and the name.
  file.writeUInt32BE(4 + 4 + 8, blendingAt + 12);
  file.writeUInt8(NAME.length, blendingAt + 24);
  file.write(NAME, blendingAt + 25, "latin1");
  return lengthsAt;
}

/** Results of merging a colour with white, indexed by alpha and colour. */
let merged: Uint8Array | null = null;

/** The maximum bytes of a channel: a two-byte length per row, and the rows. */
function maxChannelBytes({ width, height }: Pixels): number {
  return height * (2 + maxPackedBytes(width));
}

/** Bytes of the lengths of the rows of a channel. */
function countsBytes({ height }: Pixels): number {
  return height * 2;
}

/**
 * Packs the rows of one channel into `file` from `dataAt`, and their lengths from `countsAt`.
 *
 * @param onWhite Whether to merge transparent colours with white.
 * @returns the position after the rows.
 */
function packChannel(
  picture: Pixels,
  channel: number,
  file: Buffer,
  { countsAt, dataAt, onWhite }: { countsAt: number; dataAt: number; onWhite: boolean },
): number {
  const { pixels, width, height, channels } = picture;
  const row = Buffer.alloc(width);
  let end = dataAt;
  for (let y = 0; y < height; y++) {
    const start = y * width * channels;
    if (onWhite) mergeWithWhite(pixels, start + channel, start + 3, row);
    else pickChannel(pixels, start + channel, channels, row);
    const next = packBits(row, width, file, end);
    file.writeUInt16BE(next - end, countsAt + y * 2);
    end = next;
  }
  return end;
}

function pickChannel(pixels: Buffer, start: number, step: number, row: Buffer): void {
  let from = start;
  for (let x = 0; x < row.length; x++, from += step) row[x] = pixels[from] ?? 0;
}

function mergeWithWhite(pixels: Buffer, colourAt: number, alphaAt: number, row: Buffer): void {
  merged ??= tabulateMerged();
  const limit = alphaAt + row.length * 4;
  const toColour = colourAt - alphaAt;
  let x = 0;
  for (let from = alphaAt; from < limit; from += 4) {
    row[x++] = merged[((pixels[from] ?? 0) << 8) | (pixels[from + toColour] ?? 0)] ?? 0;
  }
}

function tabulateMerged(): Uint8Array {
  return Uint8Array.from({ length: 0x10000 }, (_, index) => {
    const alpha = index >> 8;
    const colour = index & 0xff;
    return Math.round(255 + ((colour - 255) * alpha) / 255);
  });
}
