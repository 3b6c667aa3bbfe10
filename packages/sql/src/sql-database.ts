import { fileURLToPath } from "node:url";
import type { ObservableWaits } from "@outrigger/core";
import { checkOptions, checkValue, rules } from "@outrigger/core/stores";
import { parsedUrl } from "@outrigger/core/values";
import { PostgresDriver } from "./driver/postgres-driver.ts";
import { ReadyDriver } from "./driver/ready-driver.ts";
import { SqliteDriver } from "./driver/sqlite-driver.ts";
import { LOOKUP_SCHEMA } from "./schema/create-tables.ts";
import { ensureSchema, hasSchema } from "./schema/ensure-schema.ts";

const RULES = {
  /**
   * `file:./lookup.db`, `file:/var/lib/lookup.db` and the like: an embedded database, which processes of one machine
   * may share. A new file is readable by this user only. `postgres://user:password@host:port/database`: PostgreSQL.
   */
  url: rules.required(
    rules.secretText(
      "of the form file:lookup.db or postgres://user:password@host:port/database",
      (url) => isPostgres(url) || pathOf(url) !== null,
    ),
  ),
  /**
   * Time limit of connecting, of one statement and of waiting for other writers, in milliseconds, 50 to 60,000.
   * Imports and erasures may take longer.
   * @default 2000
   */
  timeoutMs: rules.preset(2000, rules.time(50, 60_000)),
  /** Maximum number of connections to PostgreSQL, 1 to 1000. @default 10 */
  maxConnections: rules.preset(10, rules.whole(1, 1000)),
};

export interface SqlDatabaseOptions extends rules.Options<typeof RULES> {}

/**
 * A database that contacts, accounts and suppressions share. It connects on demand and reconnects after a
 * loss.
 */
export interface SqlDatabase extends ObservableWaits {
  readonly kind: "sqlite" | "postgres";
  /**
   * Connects and creates missing tables, as the first call to anything in the database does. Rejects with `host_misuse`
   * if another version made the tables, and with `store_unavailable` if the database fails.
   */
  ready(): Promise<void>;
  /** Whether the database has the lookup's tables, of any version. Creates none; a missing file becomes an empty one. */
  isMade(): Promise<boolean>;
  /** Closes the database. Calls under way may reject; all later calls do. May be called twice. */
  close(): Promise<void>;
}

/** The drivers of open databases, for the parts of this package. */
const drivers = new WeakMap<SqlDatabase, ReadyDriver>();

/**
 * Opens a database for the lookup's data, embedded or PostgreSQL. It does not connect yet: {@link
 * SqlDatabase.ready} does.
 * Throws a `TypeError` for invalid options.
 */
export function openDatabase(options: SqlDatabaseOptions): SqlDatabase {
  const driver = createDriver(options);
  const ready = new ReadyDriver(driver, () => ensureSchema(driver, LOOKUP_SCHEMA));
  const database: SqlDatabase = {
    kind: driver.dialect.kind,
    ready: async () => void (await ready.ready()),
    isMade: () => hasSchema(driver, LOOKUP_SCHEMA),
    observeWaits(observer) {
      if (driver instanceof PostgresDriver) driver.observeWaits(observer);
    },
    close: () => ready.close(),
  };
  drivers.set(database, ready);
  return database;
}

const DATABASE = rules.value(
  "what openDatabase() returned",
  (given) => drivers.has(given as SqlDatabase), // `has` returns false for a value that is not an object.
  true,
);

/**
 * The driver of a database for one part, such as accounts. Closing it leaves the database open. Throws a `TypeError` for any
 * value that {@link openDatabase} did not return.
 */
export function useDatabase(database: SqlDatabase): ReadyDriver<ReadyDriver> {
  checkValue("database", database, DATABASE);
  const driver = drivers.get(database);
  if (driver === undefined) throw new Error("Unreachable: the database was checked");
  return new ReadyDriver(driver, () => database.ready(), false);
}

function createDriver(options: SqlDatabaseOptions): SqliteDriver | PostgresDriver {
  const { url, timeoutMs, maxConnections } = checkOptions("openDatabase", options, RULES);
  const path = pathOf(url);
  if (path === null) return new PostgresDriver({ url, maxConnections, timeoutMs });
  return new SqliteDriver({ path, timeoutMs });
}

/** @returns `null` for a URL that does not name a file. */
function pathOf(url: string): string | null {
  if (url.startsWith("file://")) {
    const parsed = parsedUrl(url);
    return parsed === null ? null : fileURLToPath(parsed);
  }
  const path = /^file:(.+)$/s.exec(url)?.[1];
  return path === undefined || path === ":memory:" || path.includes("\0") ? null : path;
}

/** Whether a URL names a PostgreSQL server. */
export function isPostgres(url: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(url) && parsedUrl(url) !== null;
}
