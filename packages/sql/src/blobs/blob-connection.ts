import { type Observer, ServiceError } from "@outrigger/core";
import { PostgresDriver } from "../driver/postgres-driver.ts";
import { ReadyDriver } from "../driver/ready-driver.ts";
import type { SqlDriver, SqlRunner, SqlValue } from "../driver/sql-driver.ts";
import { ensureSchema } from "../schema/ensure-schema.ts";
import { blobSchema } from "./blob-schema.ts";
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

/** The tables of a store, created by the first call. */
export class BlobConnection extends ReadyDriver<PostgresDriver> {
  readonly tables: BlobTables;
  readonly #driver: PostgresDriver;
  readonly #statements: readonly PartStatements[];

  constructor({ prefix, ...settings }: BlobSettings) {
    const tables = blobTables(prefix);
    const driver = new PostgresDriver(settings);
    super(driver, async () => {
      await requireVersion(driver);
      await ensureSchema(driver, blobSchema(tables));
    });
    this.#driver = driver;
    this.tables = tables;
    this.#statements = partStatements(tables);
  }

  /** See `ObservableWaits`. */
  observeWaits(observer: Observer): void {
    this.#driver.observeWaits(observer);
  }

  /** Runs statements that read whole partitions, each with {@link SLOW_MS}, on one connection. */
  slowly<T>(work: (runner: SqlRunner) => Promise<T>): Promise<T> {
    return this.write(work, { timeoutMs: Math.max(SLOW_MS, this.timeoutMs) });
  }

  /** Runs a statement that changes data. Its last parameter, the deadline, is added. @returns the number of changed rows. */
  async change(statement: string, values: readonly (SqlValue | Buffer)[]): Promise<number> {
    return (await this.ready()).runInTime(statement, values);
  }

  /** The statements for a blob's key or an entry's ID. */
  statementsFor(key: string): PartStatements {
    return this.#statements[partOf(key)] as PartStatements; // There is one for each part.
  }
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
