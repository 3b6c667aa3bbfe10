import {
  badCursor,
  type FoundRecords,
  isBlobKey,
  type RecordCount,
  type RecordQueries,
} from "@outrigger/core/stores";
import type { SqlRunner, SqlValue } from "../driver/sql-driver.ts";
import type { BlobConnection } from "./blob-connection.ts";
import { PARTS } from "./blob-statements.ts";

/** Records of a page: about a megabyte. */
const PAGE = 1000;
/** Time after which a page ends with its partition, so that a few matches do not wait for all partitions. */
const PAGE_MS = 1000;

/** Queries by the columns of facts. */
export function createSqlRecordQueries(connection: BlobConnection): RecordQueries {
  const { blobs } = connection.tables;
  const stateAt = (now: string) => `CASE WHEN state NOT IN ('processing', 'ready', 'withheld') THEN state
    WHEN delete_after <= ${now}::bigint THEN 'removed' WHEN expires_at <= ${now}::bigint THEN 'expired' ELSE state END`;
  // Named by its own table, since planning for the whole one takes longer than most queries.
  const partIs = (part: number) => `FROM ${blobs}_${part} WHERE part = ${part}::smallint`;
  const unknownIn = (part: number) => `${partIs(part)} AND state IS NULL AND key LIKE '%/record'`;

  return {
    recordParts: PARTS,

    async findRecords({ state, owner, createdFrom, createdBefore }, nowMs, cursor) {
      const start = readCursor(cursor);
      const values: SqlValue[] = [];
      const given = (value: SqlValue) => `$${values.push(value) + 2}`;
      const conditions = ["key > $1", "state IS NOT NULL"];
      if (state !== undefined) conditions.push(`${stateAt(given(Math.floor(nowMs)))} = ${given(state)}`);
      // The columns have no text with this character, and a parameter must not have it.
      if (owner !== undefined) conditions.push(owner.includes("\0") ? "false" : `owner = ${given(owner)}`);
      if (createdFrom !== undefined) conditions.push(`created_at >= ${given(createdFrom)}`);
      if (createdBefore !== undefined) conditions.push(`created_at < ${given(createdBefore)}`);
      const statement = (part: number) =>
        `(SELECT key, bytes ${partIs(part)} AND ${conditions.join(" AND ")} ORDER BY key LIMIT $2)
        UNION ALL (SELECT key, bytes ${unknownIn(part)} AND key > $1 ORDER BY key LIMIT $2)
        ORDER BY key LIMIT $2`;
      return await connection.slowly((runner) => pageFrom(runner, statement, values, start));
    },

    countRecords: (part, nowMs) =>
      connection.slowly(async (runner) => {
        const counts = await runner.all<RecordCount>(
          `SELECT state, count(*) AS images, coalesce(sum(size), 0)::float8 AS bytes
          FROM (SELECT ${stateAt("$1")} AS state, size ${partIs(part)} AND state IS NOT NULL) AS counted GROUP BY state`,
          [Math.floor(nowMs)],
        );
        const unknown = await runner.all<{ key: string }>(`SELECT key ${unknownIn(part)}`);
        return { counts, unknown: unknown.map(({ key }) => key) };
      }),
  };
}

/** Partitions are read one by one until the page is full or the time is up, so that a statement reads one at most. */
async function pageFrom(
  runner: SqlRunner,
  statement: (part: number) => string,
  values: readonly SqlValue[],
  { part, after }: Position,
): Promise<FoundRecords> {
  const endsAt = performance.now() + PAGE_MS;
  const records: FoundRecords["records"] = [];
  let from = after;
  for (let at = part; at < PARTS; at++) {
    const room = PAGE - records.length;
    if (room === 0 || performance.now() > endsAt) return { records, cursor: `${at},${from}` };
    const found = await runner.all<FoundRecords["records"][number]>(statement(at), [from, room, ...values]);
    records.push(...found);
    from = "";
    if (found.length === room) return { records, cursor: `${at},${found.at(-1)?.key ?? ""}` };
  }
  return { records };
}

/** Where a page begins: after a key of a partition. */
interface Position {
  part: number;
  after: string;
}

function readCursor(cursor = "0,"): Position {
  const [, part = "", after = ""] = /^(\d{1,2}),(.*)$/.exec(cursor) ?? [];
  const isPosition = part !== "" && Number(part) < PARTS && (after === "" || isBlobKey(after));
  if (isPosition) return { part: Number(part), after };
  throw badCursor();
}
