import { fileURLToPath } from "node:url";
import { checkOptions, checkValue, type RuleTable, rules } from "@outrigger/core/stores";
import { createPostgresDriver } from "./driver/postgres-driver.ts";
import type { SqlDriver } from "./driver/sql-driver.ts";
import { closedError } from "./driver/sql-errors.ts";
import { createSqliteDriver } from "./driver/sqlite-driver.ts";

export interface SqlDatabaseOptions {
  /**
   * `file:lookup.db`, `file:./lookup.db`, `file:/var/lib/lookup.db` or `file:///var/lib/lookup.db`: an embedded database,
   * which the processes of one machine may share. `postgres://user:password@host:port/database`: PostgreSQL.
   */
  url: string;
  /**
   * How long connecting, a statement, and waiting for other writers may take, in milliseconds; an integer of 50 to 60,000.
   * Imports and erasures may take longer.
   * @default 2000
   */
  timeoutMs?: number;
  /**
   * Of an embedded database: what an acknowledged write outlives. `process`: the end of the process, however sudden.
   * `power`: a power cut as well; then every write waits for the disk.
   * @default "process"
   */
  durability?: "process" | "power";
  /** Of PostgreSQL: how many connections at most, an integer of 1 to 1000. @default 10 */
  maxConnections?: number;
}

const RULES = {
  url: rules.required(
    rules.secretText(
      "of the form file:lookup.db or postgres://user:password@host:port/database",
      (url) => isPostgres(url) || pathOf(url) !== null,
    ),
  ),
  timeoutMs: rules.preset(2000, rules.whole(50, 60_000)),
  durability: rules.preset("process", rules.oneOf("process", "power")),
  maxConnections: rules.preset(10, rules.whole(1, 1000)),
} satisfies RuleTable<SqlDatabaseOptions>;

/** A database that contacts, accounts and suppressions share. It connects when it is needed, and again after it was lost. */
export interface SqlDatabase {
  readonly kind: "sqlite" | "postgres";
  /**
   * Brings the schema up to date, as the first call to anything in it does. Rejects with `host_misuse` where it was made by a
   * newer version, and with `store_unavailable`.
   */
  ready(): Promise<void>;
  /** Calls that are under way may reject, and so does every later one. Calling it twice is allowed. */
  close(): Promise<void>;
}

/** What the database's own parts know of it. */
const drivers = new WeakMap<SqlDatabase, { driver: SqlDriver; ready: () => Promise<void> }>();

/**
 * A database for the lookup's data, embedded or PostgreSQL. Connects to nothing yet: {@link SqlDatabase.ready} tells whether it can. Throws a
 * `TypeError` for options that are none.
 */
export function openDatabase(options: SqlDatabaseOptions): SqlDatabase {
  const driver = createDriver(options);
  let readiness: Promise<void> | null = null;
  let isClosed = false;

  function ready(): Promise<void> {
    if (isClosed) return Promise.reject(closedError());
    if (readiness === null) {
      const attempt = driver.migrate();
      readiness = attempt;
      // The next call tries again.
      attempt.catch(() => {
        readiness = null;
      });
    }
    return readiness;
  }

  const database: SqlDatabase = {
    kind: driver.dialect.kind,
    ready,
    async close() {
      isClosed = true;
      await driver.close();
    },
  };
  drivers.set(database, { driver, ready });
  return database;
}

const DATABASE = rules.value(
  "what openDatabase() returned",
  (given) => drivers.has(given as SqlDatabase), // A WeakMap has nothing that is no object.
  true,
);

/** Throws a `TypeError` for anything but what {@link openDatabase} returned. */
export function checkDatabase(database: SqlDatabase): void {
  checkValue("database", database, DATABASE);
}

/** The driver of a database, when its schema is up to date. */
export async function readyDriver(database: SqlDatabase): Promise<SqlDriver> {
  checkDatabase(database);
  const known = drivers.get(database);
  if (known === undefined) throw new Error("Unreachable: the database was checked");
  await known.ready();
  return known.driver;
}

function createDriver(options: SqlDatabaseOptions): SqlDriver {
  const { url, timeoutMs, durability, maxConnections } = checkOptions("openDatabase", options, RULES);
  const path = pathOf(url);
  if (path === null) return createPostgresDriver({ url, maxConnections, timeoutMs });
  return createSqliteDriver({ path, isPowerSafe: durability === "power", timeoutMs });
}

/** @returns `null` for what names no file. */
function pathOf(url: string): string | null {
  if (url.startsWith("file://")) return URL.canParse(url) ? fileURLToPath(url) : null;
  const path = /^file:(.+)$/s.exec(url)?.[1];
  return path === undefined || path === ":memory:" || path.includes("\0") ? null : path;
}

function isPostgres(url: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url);
}
