import { createInflate } from "node:zlib";
import { damaged } from "../picture.ts";
import { unpackBits } from "./pack-bits.ts";
import { type Depth, unreadablePsd } from "./psd-header.ts";

/** Rows of samples as stored in a file, top to bottom: of one channel, or of several in succession. */
export interface StoredRows {
  /** 0 raw, 1 PackBits, 2 ZIP, 3 ZIP with prediction. */
  compression: number;
  /** The bytes after the number of the compression. */
  data: Buffer;
  rows: number;
  /** Samples in a row. */
  width: number;
  depth: Depth;
  /** Whether the packed length of a row takes four bytes instead of two, as in a PSB. */
  longCounts: boolean;
}

/** Receives a row: {@link rowBytes} bytes of `source` from `start`. They are valid until it returns, and read-only. */
type RowVisitor = (row: number, source: Buffer, start: number) => void;

/** Bytes of a row that is not compressed. */
export function rowBytes(width: number, depth: Depth): number {
  return depth === 1 ? Math.ceil(width / 8) : (width * depth) / 8;
}

/**
 * Checks that all rows are present, as far as possible without unpacking. Throws `unsupported_media` when rows are
 * missing.
 */
export function checkStoredRows(stored: StoredRows): void {
  const { compression, data, rows } = stored;
  if (compression > 3) throw unreadablePsd(`its compression is ${compression}`);
  let needed = 1;
  if (compression === 0) needed = rows * rowBytes(stored.width, stored.depth);
  if (compression === 1) {
    needed = rows * countBytes(stored);
    // Checked before the counts are read: a header of a few bytes can declare megabytes of counts.
    if (needed > data.length) throw damaged();
    for (let row = 0; row < rows; row++) needed += packedLength(stored, row);
  }
  if (needed > data.length) throw damaged();
}

/** Bytes of the packed length of a row. */
function countBytes({ longCounts }: StoredRows): 2 | 4 {
  return longCounts ? 4 : 2;
}

/** Bytes of a row packed by PackBits. */
function packedLength({ data, longCounts }: StoredRows, row: number): number {
  return longCounts ? data.readUInt32BE(row * 4) : data.readUInt16BE(row * 2);
}

/**
 * Unpacks the first `count` rows, one after the other, once `checkStoredRows` has found them. Rejects with
 * `unsupported_media`.
 */
export async function visitRows(stored: StoredRows, count: number, visit: RowVisitor): Promise<void> {
  if (stored.compression === 0) visitRawRows(stored, count, visit);
  else if (stored.compression === 1) visitPackedRows(stored, count, visit);
  else await visitInflatedRows(stored, count, visit);
}

function visitRawRows(stored: StoredRows, count: number, visit: RowVisitor): void {
  const bytes = rowBytes(stored.width, stored.depth);
  for (let row = 0; row < count; row++) visit(row, stored.data, row * bytes);
}

function visitPackedRows(stored: StoredRows, count: number, visit: RowVisitor): void {
  const unpacked = Buffer.alloc(rowBytes(stored.width, stored.depth));
  let position = stored.rows * countBytes(stored);
  for (let row = 0; row < count; row++) {
    const next = position + packedLength(stored, row);
    if (!unpackBits(stored.data, position, next, unpacked, unpacked.length)) throw damaged();
    visit(row, unpacked, 0);
    position = next;
  }
}

const CHUNK_BYTES = 256 * 1024;

/**
 * Inflates the first `count` rows, one at a time, whatever the data would inflate to. Rejects with `unsupported_media`.
 */
async function visitInflatedRows(stored: StoredRows, count: number, visit: RowVisitor): Promise<void> {
  const bytes = Buffer.alloc(rowBytes(stored.width, stored.depth));
  let filled = 0;
  let row = 0;
  for await (const chunk of inflate(stored.data)) {
    let position = 0;
    while (position < chunk.length) {
      const copied = chunk.copy(bytes, filled, position);
      position += copied;
      filled += copied;
      if (filled < bytes.length) break;
      filled = 0;
      if (stored.compression === 3) undoPrediction(bytes, stored.depth);
      visit(row++, bytes, 0);
      if (row === count) return;
    }
  }
  throw damaged();
}

async function* inflate(data: Buffer): AsyncGenerator<Buffer> {
  const inflating = createInflate({ chunkSize: CHUNK_BYTES });
  inflating.end(data);
  try {
    yield* inflating;
  } catch (cause) {
    throw damaged(undefined, cause);
  }
}

/** Undoes prediction in place: turns differences between neighbours back into samples. Source: TIFF 6.0, section 14. */
function undoPrediction(row: Buffer, depth: Depth): void {
  if (depth === 16) sumWords(row);
  else sumBytes(row);
}

function sumBytes(row: Buffer): void {
  let sum = 0;
  for (let index = 0; index < row.length; index++) {
    sum = (sum + (row[index] ?? 0)) & 0xff;
    row[index] = sum;
  }
}

function sumWords(row: Buffer): void {
  let sum = 0;
  for (let index = 0; index < row.length; index += 2) {
    sum = (sum + (((row[index] ?? 0) << 8) | (row[index + 1] ?? 0))) & 0xffff;
    row[index] = sum >> 8;
    row[index + 1] = sum & 0xff;
  }
}
