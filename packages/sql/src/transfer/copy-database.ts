import { existsSync } from "node:fs";
import { ServiceError } from "@outrigger/core";
import Database from "libsql";
import { toServiceError } from "../driver/sql-errors.ts";
import { readyDriver, type SqlDatabase } from "../sql-database.ts";

const BUSY_MS = 5_000;
const TOKENS = 200;

/**
 * Copies an embedded database as it is at one moment, also while others write to it, and checks the copy. Of an unchanged
 * database every copy has the same bytes. Blocks the process meanwhile.
 * @param to names a file that does not exist.
 */
export function copyDatabaseFile(from: string, to: string): void {
  use(from, (database) => database.prepare("VACUUM INTO ?").run([to]));
  checkDatabaseFile(to);
}

/** Reads the whole file. Rejects with `damaged` where it is no database, or not a sound one. */
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

/** Whether a database has no contacts, accounts and suppressions. Brings its schema up to date. */
export async function isEmptyDatabase(database: SqlDatabase): Promise<boolean> {
  const driver = await readyDriver(database);
  for (const table of ["lookup_contacts", "lookup_accounts", "lookup_suppressions"]) {
    if ((await driver.first(`SELECT 1 AS found FROM ${table} LIMIT 1`)) !== undefined) return false;
  }
  return true;
}

/** The tokens of all suppressions, from which no address can be read, at most 200 at a time. */
export async function* exportSuppressions(database: SqlDatabase): AsyncGenerator<string[]> {
  const driver = await readyDriver(database);
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
  // Opened, it would be made.
  if (!existsSync(path)) throw new ServiceError("store_unavailable", `There is no database ${path}`);
  try {
    const database = new Database(path, { timeout: BUSY_MS });
    try {
      return work(database);
    } finally {
      database.close();
    }
  } catch (error) {
    throw toServiceError(error);
  }
}
