import { type Depth, truncatedPsd, unreadablePsd } from "./psd-header.ts";

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
export type RowVisitor = (row: number, source: Buffer, start: number) => void;

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
    if (needed > data.length) throw truncatedPsd();
    for (let row = 0; row < rows; row++) needed += packedLength(stored, row);
  }
  if (needed > data.length) throw truncatedPsd();
}

/** Bytes of the packed length of a row. */
export function countBytes({ longCounts }: StoredRows): 2 | 4 {
  return longCounts ? 4 : 2;
}

/** Bytes of a row packed by PackBits. */
export function packedLength({ data, longCounts }: StoredRows, row: number): number {
  return longCounts ? data.readUInt32BE(row * 4) : data.readUInt16BE(row * 2);
}
