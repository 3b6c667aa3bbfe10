import type { Pixels } from "../libvips.ts";
import { countsBytes, maxChannelBytes, packChannel } from "./pack-channel.ts";
import { maxLayerBytes, type WrittenLayer, writeLayer } from "./write-layer.ts";

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
