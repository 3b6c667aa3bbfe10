import { ServiceError } from "@outrigger/core";
import {
  Kysely,
  type Migration,
  type MigrationProvider,
  Migrator,
  PostgresDialect,
  SqliteDialect,
  sql,
} from "kysely";
import type Database from "libsql";
import type pg from "pg";
import { addVerdictsAndTitles } from "./add-verdicts-and-titles.ts";
import { createTables } from "./create-tables.ts";
import { createVerifications } from "./create-verifications.ts";
import { MIGRATION_NAMES, MIGRATION_TABLE } from "./is-migrated.ts";

/** All schema migrations, in order; `MIGRATION_NAMES` has their names. A released migration must never be changed. */
function migrationsFor(kind: "sqlite" | "postgres"): MigrationProvider {
  const migrations: Record<(typeof MIGRATION_NAMES)[number], Migration> = {
    "001-tables": { up: (db) => createTables(db, kind) },
    "002-verdicts-and-titles": { up: (db) => addVerdictsAndTitles(db, kind) },
    "003-verifications": { up: (db) => createVerifications(db, kind) },
    "004-spelling-keys": { up: (db) => addSpellingKeyColumn(db, kind) },
    "005-habits": { up: forgetPatterns },
  };
  return { getMigrations: async () => migrations };
}

/** The column is filled when a database is opened. */
async function addSpellingKeyColumn(db: Kysely<unknown>, kind: "sqlite" | "postgres"): Promise<void> {
  const bytes = kind === "postgres" ? sql`COLLATE "C"` : sql``;
  for (const statement of [
    sql`ALTER TABLE lookup_contacts ADD COLUMN spelling_key text ${bytes}`,
    sql`CREATE INDEX lookup_contacts_spelling ON lookup_contacts (domain_id, spelling_key)
      WHERE spelling_key IS NOT NULL`,
    sql`CREATE INDEX lookup_contacts_unspelled ON lookup_contacts (address)
      WHERE name_key IS NOT NULL AND spelling_key IS NULL`,
  ]) {
    await statement.execute(db);
  }
}

/** Patterns of earlier versions have no habits. The next question about a domain learns them again. */
async function forgetPatterns(db: Kysely<unknown>): Promise<void> {
  await sql`UPDATE lookup_domains SET patterns = NULL, revision = revision + 1 WHERE patterns IS NOT NULL`.execute(
    db,
  );
}

/** The caller closes the connection. */
export function sqliteDialect(database: Database.Database): SqliteDialect {
  return new SqliteDialect({
    database: {
      close: () => undefined,
      prepare: (text) => {
        const statement = database.prepare(text);
        return {
          reader: statement.reader,
          all: (values) => statement.all([...values]),
          run: (values) => statement.run([...values]),
          iterate: (values) => statement.iterate([...values]),
        };
      },
    },
  });
}

/** Migrates the schema. Call it in a transaction that excludes other writers. */
export async function migrateSqlite(database: Database.Database): Promise<void> {
  const db = new Kysely<unknown>({ dialect: sqliteDialect(database) });
  await migrate(db, migrationsFor("sqlite"));
}

/** Migrates the schema; waits for concurrent migrations. Ends the pool. */
export async function migratePostgres(pool: pg.Pool): Promise<void> {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    await migrate(db, migrationsFor("postgres"));
  } finally {
    await db.destroy();
  }
}

async function migrate(db: Kysely<unknown>, provider: MigrationProvider): Promise<void> {
  const known = new Set<string>(MIGRATION_NAMES);
  const migrator = new Migrator({
    db,
    provider,
    migrationTableName: MIGRATION_TABLE,
    migrationLockTableName: `${MIGRATION_TABLE}_lock`,
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const newer = (await appliedMigrations(db)).filter((name) => !known.has(name));
  if (newer.length === 0) throw error;
  throw new ServiceError(
    "host_misuse",
    `The database was made by a newer version of @outrigger/sql: it has the migrations ${newer.join(", ")}. Use that version or another database.`,
    { cause: error },
  );
}

async function appliedMigrations(db: Kysely<unknown>): Promise<string[]> {
  const rows = await db
    .withTables<{ [MIGRATION_TABLE]: { name: string } }>()
    .selectFrom(MIGRATION_TABLE)
    .select("name")
    .orderBy("name")
    .execute();
  return rows.map(({ name }) => name);
}
