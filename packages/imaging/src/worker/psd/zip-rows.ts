import { createInflate } from "node:zlib";
import { undoPrediction } from "./prediction.ts";
import { type RowVisitor, rowBytes, type StoredRows } from "./stored-rows.ts";
import { truncatedPsd, unreadablePsd } from "./unreadable-psd.ts";

const CHUNK_BYTES = 256 * 1024;

/**
 * Inflates the rows up to before `end` and shows those from `first`, holding one at a time: however much the data
 * inflate to, no more than these are. Rejects with `unsupported_media`.
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
