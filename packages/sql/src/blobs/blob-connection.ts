import { ServiceError } from "@outrigger/core";
import { createPostgresDriver, type PostgresDriver } from "../driver/postgres-driver.ts";
import type { SqlDriver, SqlRunner, SqlValue } from "../driver/sql-driver.ts";
import { closedError } from "../driver/sql-errors.ts";
import { BLOB_MIGRATIONS } from "./blob-migrations.ts";
import {
  type BlobTables,
  blobTables,
  type PartStatements,
  partOf,
  partStatements,
} from "./blob-statements.ts";

export interface BlobSettings {
  url: string;
  prefix: string;
  timeoutMs: number;
  maxConnections: number;
}

/** Older versions get no security updates. */
const MIN_VERSION = 130_000;

/** Time limit of a statement that reads a whole partition: at 100 MB a second, 60 GB. */
const SLOW_MS = 600_000;

/** The tables of a store, which exist once a call has resolved. */
export interface BlobConnection {
  readonly tables: BlobTables;
  /** Rejects if the tables cannot be used. The first call creates them. */
  ready(): Promise<PostgresDriver>;
  /** The first row of a statement; `undefined` if there is none. */
  first<Row>(statement: string, values: readonly SqlValue[]): Promise<Row | undefined>;
  all<Row>(statement: string, values: readonly SqlValue[]): Promise<Row[]>;
  /** Runs statements that read whole partitions, each with {@link SLOW_MS}, on one connection. */
  slowly<T>(work: (runner: SqlRunner) => Promise<T>): Promise<T>;
  /** Runs a statement that changes data. Its last parameter, the deadline, is added. @returns the number of changed rows. */
  change(statement: string, values: readonly (SqlValue | Buffer)[]): Promise<number>;
  /** @returns the number of changed rows. */
  run(statement: string, values: readonly SqlValue[]): Promise<number>;
  /** The statements for a blob's key or an entry's ID. */
  statementsFor(key: string): PartStatements;
  close(): Promise<void>;
}

export function openBlobConnection({ prefix, ...settings }: BlobSettings): BlobConnection {
  const tables = blobTables(prefix);
  const driver = createPostgresDriver({
    ...settings,
    schema: { table: tables.migrations, names: BLOB_MIGRATIONS },
    loadMigrations: async () => (await import("./blob-migrations.ts")).blobMigrations(tables),
  });
  const statements = partStatements(tables);
  let readiness: Promise<PostgresDriver> | null = null;
  let isClosed = false;

  async function prepare(): Promise<PostgresDriver> {
    await requireVersion(driver);
    await driver.migrate();
    return driver;
  }

  async function ready(): Promise<PostgresDriver> {
    if (isClosed) throw closedError();
    readiness ??= prepare().catch((error) => {
      readiness = null; // The next call tries again.
      throw error;
    });
    return await readiness;
  }

  return {
    tables,
    ready,
    first: async (statement, values) => (await ready()).first(statement, values),
    all: async (statement, values) => (await ready()).all(statement, values),
    slowly: async (work) => (await ready()).write(work, { timeoutMs: Math.max(SLOW_MS, settings.timeoutMs) }),
    change: async (statement, values) => (await ready()).runInTime(statement, values),
    run: async (statement, values) => (await ready()).run(statement, values),
    statementsFor: (key) => statements[partOf(key)] as PartStatements, // There is one for each part.
    async close() {
      isClosed = true;
      await driver.close();
    },
  };
}

async function requireVersion(driver: SqlDriver): Promise<void> {
  const row = await driver.first<{ version: string; number: number }>(
    "SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number",
  );
  if ((row?.number ?? 0) >= MIN_VERSION) return;
  throw new ServiceError(
    "host_misuse",
    `The store needs PostgreSQL 13 or later; this server is ${row?.version}.`,
  );
}
