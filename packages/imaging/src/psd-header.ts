import type { ByteReader } from "./byte-source.ts";
import type { Size } from "./fit.ts";
import { unreadable } from "./unreadable.ts";

const TYPE = "image/x-photoshop";
const colourModes = new Set([0, 1, 2, 3, 4, 7, 8, 9]);
const depths = new Set([1, 8, 16, 32]);

/**
 * Reads the header of a PSD or PSB and follows the lengths of its sections up to the end of the merged picture, so that
 * a truncated file is found out without being decoded. Rejects with `unsupported_media`.
 *
 * Source: Adobe Photoshop File Formats Specification, "Photoshop File Format".
 */
export async function readPsdHeader(reader: ByteReader): Promise<Size> {
  const header = await reader.read(0, 26);
  if (header.length < 26 || header.toString("latin1", 0, 4) !== "8BPS") {
    throw unreadable(TYPE, "it has no PSD header");
  }
  const version = header.readUInt16BE(4);
  const channels = header.readUInt16BE(12);
  const height = header.readUInt32BE(14);
  const width = header.readUInt32BE(18);
  const depth = header.readUInt16BE(22);
  const maxSide = version === 2 ? 300_000 : 30_000;
  if (version !== 1 && version !== 2) throw unreadable(TYPE, `its version is ${version}`);
  if (channels < 1 || channels > 56) throw unreadable(TYPE, `it declares ${channels} channels`);
  if (width < 1 || height < 1 || width > maxSide || height > maxSide) {
    throw unreadable(TYPE, `it declares ${width} by ${height} pixels`);
  }
  if (!depths.has(depth)) throw unreadable(TYPE, `it declares ${depth} bits a channel`);
  const colourMode = header.readUInt16BE(24);
  if (!colourModes.has(colourMode)) throw unreadable(TYPE, `its colour mode is ${colourMode}`);

  let position = 26;
  position = await skipSection(reader, position, false);
  position = await skipSection(reader, position, false);
  position = await skipSection(reader, position, version === 2);
  const rows = height * channels;
  await checkMergedPicture(reader, position, rows, Math.ceil((width * depth) / 8), version === 2);
  return { width, height };
}

/** The position after a section that begins with its own length. */
async function skipSection(reader: ByteReader, position: number, longLength: boolean): Promise<number> {
  const lengthBytes = longLength ? 8 : 4;
  const field = await reader.read(position, lengthBytes);
  if (field.length < lengthBytes) throw truncated();
  const length = longLength ? Number(field.readBigUInt64BE()) : field.readUInt32BE();
  const end = position + lengthBytes + length;
  if (end > reader.size) throw truncated();
  return end;
}

/** Whether as many bytes follow as the merged picture needs, as far as its compression lets that be told. */
async function checkMergedPicture(
  reader: ByteReader,
  position: number,
  rows: number,
  rowBytes: number,
  longCounts: boolean,
): Promise<void> {
  const field = await reader.read(position, 2);
  if (field.length < 2) throw truncated();
  const compression = field.readUInt16BE();
  const start = position + 2;
  if (compression > 3) throw unreadable(TYPE, `its compression is ${compression}`);
  let length = 1;
  if (compression === 0) length = rows * rowBytes;
  if (compression === 1) {
    const countBytes = longCounts ? 4 : 2;
    length = rows * countBytes;
    // Before the read: a header of a few bytes may declare a table of many megabytes.
    if (start + length > reader.size) throw truncated();
    const counts = await reader.read(start, length);
    if (counts.length < length) throw truncated();
    for (let offset = 0; offset < counts.length; offset += countBytes) {
      length += longCounts ? counts.readUInt32BE(offset) : counts.readUInt16BE(offset);
    }
  }
  if (start + length > reader.size) throw truncated();
}

function truncated() {
  return unreadable(TYPE, "it is truncated");
}
