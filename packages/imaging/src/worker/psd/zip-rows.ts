import { createInflate } from "node:zlib";
import { type Depth, truncatedPsd, unreadablePsd } from "./psd-header.ts";
import { type RowVisitor, rowBytes, type StoredRows } from "./stored-rows.ts";

const CHUNK_BYTES = 256 * 1024;

/**
 * Inflates rows up to `end`, exclusive, and calls the visitor from `first` on. It holds one row at a time, whatever the
 * data would inflate to. Rejects with `unsupported_media`.
 */
export async function visitInflatedRows(
  stored: StoredRows,
  first: number,
  end: number,
  visit: RowVisitor,
): Promise<void> {
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
      if (row >= first) {
        if (stored.compression === 3) undoPrediction(bytes, stored.depth);
        visit(row, bytes, 0);
      }
      row++;
      if (row === end) return;
    }
  }
  throw truncatedPsd();
}

async function* inflate(data: Buffer): AsyncGenerator<Buffer> {
  const inflating = createInflate({ chunkSize: CHUNK_BYTES });
  inflating.end(data);
  try {
    yield* inflating;
  } catch (cause) {
    throw unreadablePsd("its compressed pixels are damaged", cause);
  }
}

/**
 * Undoes prediction in place: turns differences between neighbours back into samples. Bytes of floats are stored by
 * significance: all first bytes of a row before all second bytes.
 *
 * Source: Adobe Photoshop TIFF Technical Note 3, "Floating Point Predictor", and TIFF 6.0, section 14.
 */
function undoPrediction(row: Buffer, depth: Depth): void {
  if (depth === 16) {
    sumWords(row);
    return;
  }
  sumBytes(row);
  if (depth === 32) gatherFloats(row);
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

function gatherFloats(row: Buffer): void {
  const bySignificance = Buffer.from(row);
  const width = row.length / 4;
  for (let sample = 0; sample < width; sample++) {
    for (let byte = 0; byte < 4; byte++) {
      row[sample * 4 + byte] = bySignificance[byte * width + sample] ?? 0;
    }
  }
}
