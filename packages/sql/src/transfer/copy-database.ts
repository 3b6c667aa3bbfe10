import { existsSync } from "node:fs";
import { ServiceError } from "@outrigger/core";
import type Database from "libsql";
import { loadLibsql } from "../driver/load-libsql.ts";
import { toServiceError } from "../driver/sql-errors.ts";
import { makePrivate } from "../driver/sqlite-driver.ts";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";

const BUSY_MS = 5_000;
const TOKENS = 200;

/**
 * Copies a consistent snapshot of an embedded database, even while other processes write to it, and checks the
 * copy. Copies of an unchanged database have the same bytes. Blocks the thread meanwhile.
 * @param to Path of a file that does not exist yet.
 */
export function copyDatabaseFile(from: string, to: string): void {
  makePrivate(to);
  use(from, (database) => database.prepare("VACUUM INTO ?").run([to]));
  checkDatabaseFile(to);
}

/** Checks a database file by reading all of it. Throws `damaged` if it is not a database or not intact. */
export function checkDatabaseFile(path: string): void {
  let found: string;
  try {
    found = use(path, (database) =>
      String(Object.values(database.prepare("PRAGMA integrity_check").get([]) ?? {})[0]),
    );
  } catch (cause) {
    throw new ServiceError("damaged", "The copy of the database cannot be read", { cause });
  }
  if (found !== "ok") throw new ServiceError("damaged", `The copy of the database is damaged: ${found}`);
}

/** Whether a database has no contacts, accounts, or suppressions. Creates missing tables. */
export async function isEmptyDatabase(database: SqlDatabase): Promise<boolean> {
  const driver = useDatabase(database);
  for (const table of ["lookup_contacts", "lookup_accounts", "lookup_suppressions"]) {
    if ((await driver.first(`SELECT 1 AS found FROM ${table} LIMIT 1`)) !== undefined) return false;
  }
  return true;
}

/** Yields the tokens of all suppressions, at most 200 at a time. A token does not reveal its address. */
export async function* exportSuppressions(database: SqlDatabase): AsyncGenerator<string[]> {
  const driver = useDatabase(database);
  let last = "";
  for (;;) {
    const rows = await driver.all<{ token: string }>(
      `SELECT token FROM lookup_suppressions WHERE token > $1 ORDER BY token LIMIT ${TOKENS}`,
      [last],
    );
    if (rows.length === 0) return;
    const tokens = rows.map(({ token }) => token);
    yield tokens;
    last = tokens.at(-1) ?? last;
  }
}

function use<T>(path: string, work: (database: Database.Database) => T): T {
  // Opening a missing file would create it.
  if (!existsSync(path))
    throw new ServiceError("store_unavailable", `The database file ${path} does not exist`);
  try {
    const Libsql = loadLibsql();
    const database = new Libsql(path, { timeout: BUSY_MS });
    try {
      return work(database);
    } finally {
      database.close();
    }
  } catch (error) {
    throw toServiceError(error);
  }
}
