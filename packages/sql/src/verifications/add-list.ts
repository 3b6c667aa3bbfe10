import { setImmediate as breathe } from "node:timers/promises";
import type { ListEnd, ListSize, VerificationRow } from "@outrigger/core/lookup";
import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";
import { subjectKey } from "./erase-rows.ts";

/** A list as its table stores it. */
export interface NewList {
  id: string;
  /** Empty for a list without an account. */
  account: string;
  plan: string;
  header: string | null;
  isSingle: boolean;
  createdAt: number;
  /** When its rows are due. */
  dueMs: number;
  /** Its event, if all of its rows have a result. */
  end: ListEnd | undefined;
}

/** Number of rows in one statement: each may have 4 KiB, and an embedded database blocks the thread. */
const CHUNK = 500;
const SPOTS = 2 ** 31;

/** Adds a list with its rows in one transaction; see `VerificationQueue`. @returns `false` for a known ID or too many rows. */
export async function addList(
  driver: SqlDriver,
  list: NewList,
  rows: readonly VerificationRow[],
  maxRows: number | null,
  { bytes, maxBytes }: ListSize,
): Promise<boolean> {
  const { account } = list;
  return await driver.write(async (runner) => {
    if (maxRows !== null || maxBytes !== null) {
      const stored = await runner.first<{ total: number; bytes: number }>(
        `SELECT coalesce(sum(total), 0) AS total, CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes
         FROM lookup_verification_lists WHERE account = $1 AND is_single = 0`,
        [account],
      );
      if ((stored?.total ?? 0) + rows.length > (maxRows ?? Infinity)) return false;
      if ((stored?.bytes ?? 0) + bytes > (maxBytes ?? Infinity)) return false;
    }
    const seq = await insertList(runner, list, rows, bytes);
    if (seq === null) return false;
    for (let start = 0; start < rows.length; start += CHUNK) {
      const given = rows
        .slice(start, start + CHUNK)
        .map(({ email, subject, columns, result }, index) => [
          start + index,
          email,
          subject === null ? null : subjectKey(subject),
          columns === null ? null : JSON.stringify(columns),
          Math.floor(Math.random() * SPOTS),
          result,
        ]);
      await runner.run(
        `INSERT INTO lookup_verification_rows
           (list, position, account, email, subject, cells, result, due_at, spot, attempts)
         SELECT $1, CAST(each.value->>0 AS integer), $2, each.value->>1, each.value->>2, each.value->>3, each.value->>5,
           CASE WHEN each.value->>5 IS NULL THEN CAST($3 AS bigint) END, CAST(each.value->>4 AS integer), 0
         FROM ${driver.dialect.rows("$4")} WHERE true`,
        [seq, account, list.dueMs, JSON.stringify(given)],
      );
      if (rows.length > CHUNK) await breathe();
    }
    await runner.run(
      `INSERT INTO lookup_verification_turns (account, turn)
       SELECT $1, coalesce(max(turn), 0) + 1 FROM lookup_verification_turns WHERE true ON CONFLICT DO NOTHING`,
      [account],
    );
    return true;
  });
}

/** @returns `null` if the ID exists. */
async function insertList(
  runner: SqlRunner,
  { id, account, plan, header, isSingle, createdAt, ...list }: NewList,
  rows: readonly VerificationRow[],
  bytes: number,
): Promise<number | null> {
  const done = rows.filter(({ result }) => result !== null).length;
  const end = done === rows.length ? list.end : undefined;
  const row = await runner.first<{ seq: number }>(
    `INSERT INTO lookup_verification_lists
       (id, account, plan, header, total, done, is_started, is_single, created_at, bytes, event_at, event_due, event)
     VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $8, $9, $10, $10, $11) ON CONFLICT (id) DO NOTHING RETURNING seq`,
    [
      ...[id, account, plan, header, rows.length, done, isSingle ? 1 : 0, createdAt, bytes],
      ...[end?.at ?? null, end?.state ?? null],
    ],
  );
  return row?.seq ?? null;
}
