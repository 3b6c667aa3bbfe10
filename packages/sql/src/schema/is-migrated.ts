import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";

/** The migrations of one set of tables. A database may have several sets. */
export interface Schema {
  /** The table that lists the applied migrations. */
  table: string;
  /** Names of all migrations, in order. */
  names: readonly string[];
}

export const LOOKUP_SCHEMA = {
  table: "lookup_migrations",
  names: [
    ...["001-tables", "002-verdicts-and-titles", "003-verifications"],
    ...["004-spelling-keys", "005-habits", "006-list-bytes", "007-organization-keys"],
    ...["008-plain-names", "009-pages", "010-reports", "011-list-events"],
  ],
} as const satisfies Schema;

const TABLE = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1",
  postgres: "SELECT to_regclass($1) AS name WHERE to_regclass($1) IS NOT NULL",
};

/** Whether a database has the tables of a schema, of any version. */
export async function hasSchema(driver: SqlDriver, { table }: Schema): Promise<boolean> {
  return (await driver.first(TABLE[driver.dialect.kind], [table])) !== undefined;
}

/** Whether the schema has exactly the migrations of this version. It loads no migrator, whose library has hundreds of files. */
export async function isMigrated(
  runner: SqlRunner,
  kind: "sqlite" | "postgres",
  { table, names }: Schema,
): Promise<boolean> {
  if ((await runner.first(TABLE[kind], [table])) === undefined) return false;
  const applied = await runner.all<{ name: string }>(`SELECT name FROM ${table} ORDER BY name`);
  return applied.map(({ name }) => name).join() === names.join();
}
