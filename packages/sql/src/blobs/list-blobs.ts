import { badCursor, checkListing, isBlobKey, type KeyPage, type ListOptions } from "@outrigger/core/stores";
import type { BlobConnection } from "./blob-connection.ts";
import { PARTS } from "./blob-statements.ts";

/** A page of keys, in the order of the index. The cursor is the last key; of all keys, after its partition and a comma. */
export async function listBlobs(
  connection: BlobConnection,
  prefix: string,
  { cursor, limit = 1000 }: ListOptions,
): Promise<KeyPage> {
  checkListing(prefix, limit);
  if (prefix === "") return await listAll(connection, cursor, limit);
  if (cursor !== undefined && !(isBlobKey(cursor) && cursor.startsWith(prefix))) throw badCursor();
  const { list } = connection.statementsFor(prefix);
  // "0" comes right after "/".
  const bounds = [cursor ?? prefix, `${prefix.slice(0, -1)}0`];
  const rows = await connection.all<{ key: string }>(list, [...bounds, limit + 1]);
  return pageOf(rows, limit, ({ key }) => key);
}

async function listAll(
  connection: BlobConnection,
  cursor: string | undefined,
  limit: number,
): Promise<KeyPage> {
  const [part = "", after = ""] = cursor === undefined ? ["0"] : cursor.split(",");
  if (cursor !== undefined && !(/^\d{1,2}$/.test(part) && Number(part) < PARTS && isBlobKey(after))) {
    throw badCursor();
  }
  const rows = await connection.all<{ part: number; key: string }>(
    `SELECT part, key FROM ${connection.tables.blobs} WHERE (part, key) > ($1, $2) ORDER BY part, key LIMIT $3`,
    [Number(part), after, limit + 1],
  );
  return pageOf(rows, limit, (row) => `${row.part},${row.key}`);
}

/** @param rows one more than the limit if another page follows. */
function pageOf<Row extends { key: string }>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
): KeyPage {
  const keys = rows.slice(0, limit).map(({ key }) => key);
  const last = rows[limit - 1];
  return rows.length > limit && last !== undefined ? { keys, cursor: cursorOf(last) } : { keys };
}
