import { ServiceError } from "@outrigger/core";
import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";

/** A set of tables, created where it is absent. A database may have several sets. */
export interface Schema {
  /** The table with the version of the set. */
  marker: string;
  version: number;
  /** One of the tables: present without `marker`, it is of another set. */
  table: string;
  /** The statements that create the tables, without `marker`. */
  create(kind: SqlDriver["dialect"]["kind"]): readonly string[];
}

/** Time limit of a statement of the creation, which may wait for that by another process, in milliseconds. */
const CREATION_MS = 30_000;

const FIND_TABLE = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1",
  // Not to_regclass(): its cache may lack what another process has just committed.
  postgres: "SELECT relname AS name FROM pg_class WHERE relname = $1 AND pg_table_is_visible(oid)",
};

/** Creates the tables of a schema that are absent. Rejects with `host_misuse` for those of another version. */
export async function ensureSchema(driver: SqlDriver, schema: Schema): Promise<void> {
  const { kind } = driver.dialect;
  if (await isCreated(driver, kind, schema)) return;
  await driver.write(
    async (runner) => {
      // Another process may have been first.
      if (await isCreated(runner, kind, schema)) return;
      for (const statement of schema.create(kind)) await runner.run(statement);
      await runner.run(`CREATE TABLE ${schema.marker} (version integer NOT NULL)`);
      await runner.run(`INSERT INTO ${schema.marker} (version) VALUES (${schema.version})`);
    },
    { isAlone: true, timeoutMs: CREATION_MS },
  );
}

/** Whether a database has tables of a schema, of any version. */
export function hasSchema(driver: SqlDriver, { table }: Schema): Promise<boolean> {
  return hasTable(driver, driver.dialect.kind, table);
}

async function hasTable(runner: SqlRunner, kind: keyof typeof FIND_TABLE, name: string): Promise<boolean> {
  return (await runner.first(FIND_TABLE[kind], [name])) !== undefined;
}

async function isCreated(
  runner: SqlRunner,
  kind: keyof typeof FIND_TABLE,
  { marker, version, table }: Schema,
): Promise<boolean> {
  // In this order: another process creates both at once, maybe now.
  if (!(await hasTable(runner, kind, table))) return false;
  if (!(await hasTable(runner, kind, marker))) throw foreign(`there is ${table} without ${marker}`);
  const found = await runner.first<{ version: number }>(`SELECT version FROM ${marker}`);
  if (found?.version === version) return true;
  throw foreign(`${marker} has version ${found?.version ?? "none"} instead of ${version}`);
}

function foreign(why: string): ServiceError {
  return new ServiceError(
    "host_misuse",
    `The database has tables that this version of @outrigger/sql did not create: ${why}. Use the version that created them, or an empty database.`,
  );
}
