import type { FinishedRow, ListEnd } from "@outrigger/core/lookup";
import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";

/** Stores results; see `VerificationQueue`. */
export async function finishRows(
  driver: SqlDriver,
  results: readonly FinishedRow[],
  end: ListEnd | undefined,
): Promise<number> {
  if (results.length === 0) return 0;
  const given = JSON.stringify(
    results.map(({ list, position, result, isErased }) => [list, position, result, isErased ? 1 : 0]),
  );
  const isErasure = results.some(({ isErased }) => isErased);
  const kept = (column: string, erased: string) =>
    `${column} = CASE given.erased WHEN '1' THEN ${erased} ELSE lookup_verification_rows.${column} END`;
  const work = async (runner: SqlRunner) => {
    const finished = await runner.all<{ list: number }>(
      `UPDATE lookup_verification_rows SET result = given.result, due_at = NULL,
         ${kept("email", "''")}, ${kept("subject", "NULL")}, ${kept("cells", "NULL")} FROM (
         SELECT l.seq, CAST(each.value->>1 AS integer) AS position, each.value->>2 AS result,
           CAST(each.value->>3 AS text) AS erased
         FROM ${driver.dialect.rows("$1")} JOIN lookup_verification_lists l ON l.id = each.value->>0
       ) AS given
       WHERE lookup_verification_rows.list = given.seq AND lookup_verification_rows.position = given.position
         AND lookup_verification_rows.due_at IS NOT NULL
       RETURNING lookup_verification_rows.list AS list`,
      [given],
    );
    await countDone(runner, finished, end);
    return finished.length;
  };
  return await driver.write(work, { isErasure });
}

/** Adds to the number of rows with a result. Lists of a single row are deleted with it; other lists get their event with the last row. */
export async function countDone(
  runner: SqlRunner,
  finished: readonly { list: number }[],
  end: ListEnd | undefined,
): Promise<void> {
  const counts = new Map<number, number>();
  for (const { list } of finished) counts.set(list, (counts.get(list) ?? 0) + 1);
  // Every transaction locks the lists in the same order.
  for (const [seq, count] of [...counts].sort(([a], [b]) => a - b)) {
    const list = await runner.first<{ is_single: number }>(
      `UPDATE lookup_verification_lists SET done = done + $2,
         event_at = CASE WHEN done + $2 = total THEN CAST($3 AS bigint) END,
         event_due = CASE WHEN done + $2 = total THEN CAST($3 AS bigint) END,
         event = CASE WHEN done + $2 = total THEN CAST($4 AS text) END
       WHERE seq = $1 RETURNING is_single`,
      [seq, count, end?.at ?? null, end?.state ?? null],
    );
    if (list?.is_single !== 1) continue;
    await runner.run("DELETE FROM lookup_verification_rows WHERE list = $1", [seq]);
    await runner.run("DELETE FROM lookup_verification_lists WHERE seq = $1", [seq]);
  }
}
