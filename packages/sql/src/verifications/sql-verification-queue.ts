import type { VerificationList, VerificationQueue, VerificationRow } from "@outrigger/core/lookup";
import type { SqlDriver } from "../driver/sql-driver.ts";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";
import { addList } from "./add-list.ts";
import { addressOf, eraseRows } from "./erase-rows.ts";
import { finishRows } from "./finish-rows.ts";
import { countEnds, settleEnd, takeEnds } from "./list-ends.ts";
import { takeRows } from "./take-rows.ts";

/** Number of rows that are deleted in one transaction. */
const CHUNK = 5000;

const NO_SIZE = { bytes: 0, maxBytes: null };

/** Verifications that wait in a database, with their results. Closing the queue leaves the database open. */
export function createSqlVerificationQueue(database: SqlDatabase): VerificationQueue {
  const driver = useDatabase(database);

  return {
    async add({ account, header, ...list }, rows, maxRows, size = NO_SIZE, end) {
      const stored = {
        ...list,
        account: account ?? "",
        header: header === null ? null : JSON.stringify(header),
        isSingle: false,
        dueMs: list.createdAt,
        end,
      };
      return await addList(driver, stored, rows, maxRows, size);
    },
    async addSingle({ id, account, plan, createdAt }, row) {
      // Due since 1970, it comes before the rows of lists.
      const single = { account: account ?? "", header: null, isSingle: true, dueMs: 0, end: undefined };
      await addList(driver, { id, plan, createdAt, ...single }, [row], null, NO_SIZE);
    },
    async get(id) {
      const row = await driver.first<ListRow>(
        `SELECT id, account, plan, header, total, done, is_started, created_at FROM lookup_verification_lists
         WHERE id = $1 AND is_single = 0`,
        [id],
      );
      return row === undefined ? null : listOf(row);
    },
    async rows(id, { offset, limit }) {
      const rows = await driver.all<RowRow>(
        `SELECT email, subject, cells, result FROM lookup_verification_rows
         WHERE list = (SELECT seq FROM lookup_verification_lists WHERE id = $1 AND is_single = 0)
           AND position >= $2 ORDER BY position LIMIT $3`,
        // Positions are 32-bit integers.
        [id, Math.min(offset, 2 ** 31 - 1), limit],
      );
      return rows.map(rowOf);
    },
    take: (limit, leaseMs, nowMs) => takeRows(driver, limit, leaseMs, nowMs),
    finish: (results, end) => finishRows(driver, results, end),
    async postpone({ list, position }, untilMs, wasAttempt) {
      await driver.run(
        `UPDATE lookup_verification_rows SET due_at = $3, attempts = attempts + $4
         WHERE list = (SELECT seq FROM lookup_verification_lists WHERE id = $1) AND position = $2
           AND due_at IS NOT NULL`,
        [list, position, untilMs, wasAttempt ? 1 : 0],
      );
    },
    erase: (subject, result, end) => eraseRows(driver, subject, result, end),
    takeEnds: (limit, leaseMs, nowMs) => takeEnds(driver, limit, leaseMs, nowMs),
    settleEnd: (taken, settled) => settleEnd(driver, taken, settled),
    countEnds: () => countEnds(driver),
    removeBefore: (createdBeforeMs) => removeBefore(driver, createdBeforeMs),
    close: () => driver.close(),
  };
}

interface ListRow {
  id: string;
  account: string;
  plan: string;
  header: string | null;
  total: number;
  done: number;
  is_started: number;
  created_at: number;
}

interface RowRow {
  email: string;
  subject: string | null;
  cells: string | null;
  result: string | null;
}

function listOf({ id, account, plan, header, total, done, ...row }: ListRow): VerificationList {
  return {
    id,
    plan,
    total,
    done,
    account: account === "" ? null : account,
    header: parseTexts(header),
    isStarted: row.is_started === 1,
    createdAt: row.created_at,
  };
}

function rowOf({ email, subject, cells, result }: RowRow): VerificationRow {
  return { email, subject: subject === null ? null : addressOf(subject), columns: parseTexts(cells), result };
}

function parseTexts(json: string | null): readonly string[] | null {
  return json === null ? null : (JSON.parse(json) as string[]); // Written by `add`.
}

/** A list is deleted after its rows, so that a crash leaves no rows without a list. */
async function removeBefore(driver: SqlDriver, createdBeforeMs: number): Promise<number> {
  const lists = await driver.all<{ seq: number; total: number }>(
    "SELECT seq, total FROM lookup_verification_lists WHERE created_at < $1",
    [createdBeforeMs],
  );
  let removed = 0;
  for (const { seq, total } of lists) {
    for (let start = 0; start < total; start += CHUNK) {
      await driver.run(
        "DELETE FROM lookup_verification_rows WHERE list = $1 AND position >= $2 AND position < $3",
        [seq, start, start + CHUNK],
      );
    }
    removed += await driver.run("DELETE FROM lookup_verification_lists WHERE seq = $1", [seq]);
  }
  return removed;
}
