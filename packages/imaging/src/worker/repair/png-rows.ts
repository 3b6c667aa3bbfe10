import type { PngChunk } from "../png/png-chunks.ts";

const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** The passes of Adam7: first column, first row, and the steps of both. */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;
/** The filter that adds the row above. */
const UP = 2;

/** The rows in the decompressed data of a PNG. */
export interface PngRows {
  width: number;
  height: number;
  /** Bytes of all rows, with their filter bytes. */
  bytes: number;
  /** Rows of the picture that are complete after so many bytes. */
  complete(received: number): number;
  /** The bytes after the first `received`: zero, and in the last interlaced pass copies of the row above. */
  filling(received: number): Generator<Buffer, void>;
}

/**
 * Reads IHDR. `null` for one that is invalid.
 *
 * Source: PNG specification, third edition, sections 7.2, 8.1 and 11.2.1.
 */
export function readPngRows({ type, data }: PngChunk): PngRows | null {
  if (type !== "IHDR" || data.length !== 13) return null;
  const [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
  const pixelBits = data.readUInt8(8) * (CHANNELS[data.readUInt8(9)] ?? 0);
  const isInterlaced = data.readUInt8(12) === 1;
  if (width === 0 || height === 0 || pixelBits === 0) return null;
  const passes = (isInterlaced ? ADAM7 : ([[0, 0, 1, 1]] as const))
    .map(([left, top, stepX, stepY]) => ({
      columns: Math.ceil((width - left) / stepX),
      rows: Math.ceil((height - top) / stepY),
    }))
    .filter(({ columns, rows }) => columns > 0 && rows > 0)
    .map(({ columns, rows }) => ({ rows, rowBytes: 1 + Math.ceil((columns * pixelBits) / 8) }));
  const bytes = passes.reduce((sum, { rows, rowBytes }) => sum + rows * rowBytes, 0);
  const last = passes.at(-1) ?? { rows: 0, rowBytes: 1 };
  const beforeLast = bytes - last.rows * last.rowBytes;
  return {
    width,
    height,
    bytes,
    complete(received) {
      if (received >= bytes) return height;
      // The last pass of several holds every second row; the passes before it hold the others.
      return received < beforeLast
        ? 0
        : height - last.rows + Math.floor((received - beforeLast) / last.rowBytes);
    },
    *filling(received) {
      if (received < beforeLast) yield Buffer.alloc(beforeLast - received);
      const at = Math.max(0, received - beforeLast);
      const partial = at % last.rowBytes;
      if (partial > 0) yield Buffer.alloc(last.rowBytes - partial);
      const row = Buffer.alloc(last.rowBytes);
      if (isInterlaced) row.writeUInt8(UP);
      for (let index = Math.ceil(at / last.rowBytes); index < last.rows; index++) yield row;
    },
  };
}
