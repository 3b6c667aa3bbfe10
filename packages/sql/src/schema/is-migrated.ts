import type { SqlRunner } from "../driver/sql-driver.ts";

export const MIGRATION_TABLE = "lookup_migrations";

/** Names of all schema migrations, in order. */
export const MIGRATION_NAMES = [
  "001-tables",
  "002-verdicts-and-titles",
  "003-verifications",
  "004-spelling-keys",
  "005-habits",
] as const;

const TABLE = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1",
  postgres: "SELECT to_regclass($1) AS name WHERE to_regclass($1) IS NOT NULL",
};

/** Whether the schema has exactly the migrations of this version. It loads no migrator, whose library has hundreds of files. */
export async function isMigrated(runner: SqlRunner, kind: "sqlite" | "postgres"): Promise<boolean> {
  if ((await runner.first(TABLE[kind], [MIGRATION_TABLE])) === undefined) return false;
  const applied = await runner.all<{ name: string }>(`SELECT name FROM ${MIGRATION_TABLE} ORDER BY name`);
  return applied.map(({ name }) => name).join() === MIGRATION_NAMES.join();
}
