import { inflateSync } from "node:zlib";

/** The samples of a PNG, row by row. */
export interface PngPixels {
  width: number;
  height: number;
  bytesPerPixel: number;
  rows: readonly Buffer[];
}

const SIGNATURE_BYTES = 8;
/** Bytes of a chunk besides its data: length, type, CRC. */
const CHUNK_BYTES = 12;
/** Samples per pixel by colour type (PNG 3, table 11.1). */
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Reads a PNG with 8 bits per sample and without interlacing, as renderers write it. Throws for any other. */
export function readPngPixels(png: Buffer): PngPixels {
  const data: Buffer[] = [];
  let header: Buffer = Buffer.alloc(0);
  for (let at = SIGNATURE_BYTES; at + CHUNK_BYTES <= png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const content = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") header = content;
    if (type === "IDAT") data.push(content);
    at += CHUNK_BYTES + length;
  }
  if (header.length < 13) throw new Error("the reply is not a PNG");
  const bytesPerPixel = SAMPLES[header.readUInt8(9)];
  if (bytesPerPixel === undefined || header.readUInt8(8) !== 8 || header.readUInt8(12) !== 0)
    throw new Error("the PNG has an unsupported format");
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  return {
    width,
    height,
    bytesPerPixel,
    rows: unfilter(inflateSync(Buffer.concat(data)), width * bytesPerPixel, height, bytesPerPixel),
  };
}

/** Reverses the filters of the rows (PNG 3, clause 9). */
function unfilter(filtered: Buffer, rowBytes: number, height: number, step: number): Buffer[] {
  const rows: Buffer[] = [];
  let above = Buffer.alloc(rowBytes);
  for (let y = 0; y < height; y++) {
    const start = y * (rowBytes + 1);
    const filter = filtered.readUInt8(start);
    const row = Buffer.from(filtered.subarray(start + 1, start + 1 + rowBytes));
    for (let x = 0; x < rowBytes; x++) {
      const left = x < step ? 0 : (row[x - step] ?? 0);
      const aboveLeft = x < step ? 0 : (above[x - step] ?? 0);
      row[x] = ((row[x] ?? 0) + predict(filter, left, above[x] ?? 0, aboveLeft)) & 0xff;
    }
    rows.push(row);
    above = row;
  }
  return rows;
}

function predict(filter: number, left: number, above: number, aboveLeft: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) >> 1;
    case 4:
      return paeth(left, above, aboveLeft);
    default:
      return 0;
  }
}

function paeth(left: number, above: number, aboveLeft: number): number {
  const estimate = left + above - aboveLeft;
  const [byLeft, byAbove, byBoth] = [left, above, aboveLeft].map((each) => Math.abs(estimate - each));
  if (byLeft === undefined || byAbove === undefined || byBoth === undefined) return 0;
  if (byLeft <= byAbove && byLeft <= byBoth) return left;
  return byAbove <= byBoth ? above : aboveLeft;
}
