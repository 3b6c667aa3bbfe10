import { unpackBits } from "./pack-bits.ts";
import { unreadablePsd } from "./psd-header.ts";
import { countBytes, packedLength, type RowVisitor, rowBytes, type StoredRows } from "./stored-rows.ts";
import { visitInflatedRows } from "./zip-rows.ts";

/**
 * Unpacks the rows from `first` up to before `end`, one after the other, once `checkStoredRows` has found them.
 * Rejects with `unsupported_media`.
 */
export async function visitRows(
  stored: StoredRows,
  { first, end }: { first: number; end: number },
  visit: RowVisitor,
): Promise<void> {
  if (stored.compression === 0) visitRawRows(stored, first, end, visit);
  else if (stored.compression === 1) visitPackedRows(stored, first, end, visit);
  else await visitInflatedRows(stored, first, end, visit);
}

function visitRawRows(stored: StoredRows, first: number, end: number, visit: RowVisitor): void {
  const bytes = rowBytes(stored.width, stored.depth);
  for (let row = first; row < end; row++) visit(row, stored.data, row * bytes);
}

function visitPackedRows(stored: StoredRows, first: number, end: number, visit: RowVisitor): void {
  const unpacked = Buffer.alloc(rowBytes(stored.width, stored.depth));
  let position = stored.rows * countBytes(stored);
  for (let row = 0; row < end; row++) {
    const next = position + packedLength(stored, row);
    if (row >= first) {
      if (!unpackBits(stored.data, position, next, unpacked, unpacked.length)) {
        throw unreadablePsd("a row of its pixels is too short");
      }
      visit(row, unpacked, 0);
    }
    position = next;
  }
}
