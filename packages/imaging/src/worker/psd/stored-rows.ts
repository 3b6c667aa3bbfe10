import { type Depth, truncatedPsd, unreadablePsd } from "./psd-header.ts";

/** Rows of samples as a file holds them, top to bottom: of one channel, or of several one after the other. */
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

/** Receives a row: {@link rowBytes} bytes of `source` from `start`, good until it returns and not to be changed. */
export type RowVisitor = (row: number, source: Buffer, start: number) => void;

/** Bytes of a row that is not compressed. */
export function rowBytes(width: number, depth: Depth): number {
  return depth === 1 ? Math.ceil(width / 8) : (width * depth) / 8;
}

/**
 * Checks without unpacking that all rows are there, as far as the compression allows. Throws `unsupported_media` where they
 * are not.
 */
export function checkStoredRows(stored: StoredRows): void {
  const { compression, data, rows } = stored;
  if (compression > 3) throw unreadablePsd(`its compression is ${compression}`);
  let needed = 1;
  if (compression === 0) needed = rows * rowBytes(stored.width, stored.depth);
  if (compression === 1) {
    needed = rows * countBytes(stored);
    // Before the counts are read: a header of a few bytes may declare many megabytes of them.
    if (needed > data.length) throw truncatedPsd();
    for (let row = 0; row < rows; row++) needed += packedLength(stored, row);
  }
  if (needed > data.length) throw truncatedPsd();
}

/** Bytes of the packed length of a row. */
export function countBytes({ longCounts }: StoredRows): 2 | 4 {
  return longCounts ? 4 : 2;
}

/** Bytes that PackBits made of a row. */
export function packedLength({ data, longCounts }: StoredRows, row: number): number {
  return longCounts ? data.readUInt32BE(row * 4) : data.readUInt16BE(row * 2);
}
