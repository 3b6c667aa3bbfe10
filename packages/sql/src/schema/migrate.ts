import { ServiceError } from "@outrigger/core";
import { organizationKey } from "@outrigger/core/lookup";
import { Kysely, type Migration, Migrator, PostgresDialect, SqliteDialect, sql } from "kysely";
import type Database from "libsql";
import type pg from "pg";
import { addVerdictsAndTitles } from "./add-verdicts-and-titles.ts";
import {
  addListEvents,
  byteOrder,
  createPages,
  createReports,
  createTables,
  createVerifications,
  type Kind,
  runAll,
} from "./create-tables.ts";
import { LOOKUP_SCHEMA, type Schema } from "./is-migrated.ts";

/** Positions of names in a packed contact. */
const FIRST_NAME_AT = 4;
const LAST_NAME_AT = 5;
/** Blanks, points and commas, for a class of characters in a pattern. */
const OMISSION_SIGNS = " .,\t\n\v\f\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";
/** Number of names whose keys are renewed at once. */
const KEYS_AT_ONCE = 5000;

/** The migrations of a {@link Schema}, by name. */
export type Migrations = Readonly<Record<string, Migration>>;

/** The migrations of `LOOKUP_SCHEMA`. A released migration must never be changed. */
export function lookupMigrations(kind: Kind): Migrations {
  return {
    "001-tables": { up: (db) => createTables(db, kind) },
    "002-verdicts-and-titles": { up: (db) => addVerdictsAndTitles(db, kind) },
    "003-verifications": { up: (db) => createVerifications(db, kind) },
    "004-spelling-keys": { up: (db) => addSpellingKeyColumn(db, kind) },
    "005-habits": { up: forgetPatterns },
    "006-list-bytes": { up: (db) => addListBytes(db, kind) },
    "007-organization-keys": { up: (db) => renewOrganizationKeys(db, kind) },
    "008-plain-names": { up: (db) => forgetSpellingKeys(db, kind) },
    "009-pages": { up: (db) => createPages(db, kind) },
    "010-reports": { up: (db) => createReports(db, kind) },
    "011-list-events": { up: addListEvents },
  } satisfies Record<(typeof LOOKUP_SCHEMA)["names"][number], Migration>;
}

/** The column is filled when a database is opened. */
async function addSpellingKeyColumn(db: Kysely<unknown>, kind: Kind): Promise<void> {
  await runAll(db, [
    sql`ALTER TABLE lookup_contacts ADD COLUMN spelling_key text ${byteOrder(kind)}`,
    sql`CREATE INDEX lookup_contacts_spelling ON lookup_contacts (domain_id, spelling_key)
      WHERE spelling_key IS NOT NULL`,
    sql`CREATE INDEX lookup_contacts_unspelled ON lookup_contacts (address)
      WHERE name_key IS NOT NULL AND spelling_key IS NULL`,
  ]);
}

/** Lists of earlier versions count no bytes until they are deleted, 30 days after they were added. */
async function addListBytes(db: Kysely<unknown>, kind: Kind): Promise<void> {
  const known = sql`SELECT 1 FROM pragma_table_info('lookup_verification_lists') WHERE name = 'bytes'`;
  // SQLite has no IF NOT EXISTS for columns.
  if (kind === "sqlite" && (await known.execute(db)).rows.length > 0) return;
  const column = kind === "sqlite" ? sql`bytes` : sql`IF NOT EXISTS bytes`;
  await sql`ALTER TABLE lookup_verification_lists ADD COLUMN ${column} bigint NOT NULL DEFAULT 0`.execute(db);
}

/** Keys of earlier versions have initials and suffixes of names. They are renewed when the database is opened. */
async function forgetSpellingKeys(db: Kysely<unknown>, kind: Kind): Promise<void> {
  const name = sql.raw(`packed${kind === "postgres" ? "::json" : ""}->>`);
  const has = kind === "postgres" ? sql`~ ${`[${OMISSION_SIGNS}]`}` : sql`GLOB ${`*[${OMISSION_SIGNS}]*`}`;
  for (let after = ""; ; ) {
    const { rows } = await sql<{ address: string }>`SELECT max(address) AS address FROM (
      SELECT address FROM lookup_contacts WHERE address > ${after} ORDER BY address LIMIT ${KEYS_AT_ONCE}
    ) AS batch`.execute(db);
    const last = rows[0]?.address ?? null;
    if (last === null) return;
    await sql`UPDATE lookup_contacts SET spelling_key = NULL
      WHERE address > ${after} AND address <= ${last} AND name_key IS NOT NULL
        AND ((${name}${sql.lit(FIRST_NAME_AT)}) ${has} OR (${name}${sql.lit(LAST_NAME_AT)}) ${has})`.execute(
      db,
    );
    after = last;
  }
}

/** Keys of earlier versions are names in lower case. */
async function renewOrganizationKeys(db: Kysely<unknown>, kind: Kind): Promise<void> {
  const each = (json: string) =>
    kind === "sqlite"
      ? sql`json_each(${json}) AS each`
      : sql`json_array_elements(${json}::json) AS each(value)`;
  for (let last = -1; ; ) {
    const { rows } = await sql<{
      id: number;
      organization: string;
    }>`SELECT id, organization FROM lookup_domains
      WHERE id > ${last} AND organization IS NOT NULL ORDER BY id LIMIT ${KEYS_AT_ONCE}`.execute(db);
    const keys = JSON.stringify(
      rows.map(({ id, organization }) => [Number(id), organizationKey(organization)]),
    );
    await sql`UPDATE lookup_domains SET organization_key = each.value->>1 FROM ${each(keys)}
      WHERE lookup_domains.id = CAST(each.value->>0 AS bigint)`.execute(db);
    last = Number(rows.at(-1)?.id ?? -1);
    if (rows.length < KEYS_AT_ONCE) return;
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

/** Migrates the lookup's schema. Call it in a transaction that excludes other writers. */
export async function migrateSqlite(database: Database.Database): Promise<void> {
  const db = new Kysely<unknown>({ dialect: sqliteDialect(database) });
  await migrate(db, LOOKUP_SCHEMA, lookupMigrations("sqlite"));
}

/** Migrates a schema; waits for concurrent migrations. Ends the pool. */
export async function migratePostgres(pool: pg.Pool, schema: Schema, migrations: Migrations): Promise<void> {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    await migrate(db, schema, migrations);
  } finally {
    await db.destroy();
  }
}

async function migrate(db: Kysely<unknown>, { table, names }: Schema, migrations: Migrations): Promise<void> {
  const known = new Set<string>(names);
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    migrationTableName: table,
    migrationLockTableName: `${table}_lock`,
    // Migrations of two branches may reach a database in either order.
    allowUnorderedMigrations: true,
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  // The table is missing if it could not be created, which `error` reports.
  const applied = await appliedMigrations(db, table).catch(() => []);
  const newer = applied.filter((name) => !known.has(name));
  if (newer.length === 0) throw error;
  throw new ServiceError(
    "host_misuse",
    `The database was made by a newer version of @outrigger/sql: it has the migrations ${newer.join(", ")}. Use that version or another database.`,
    { cause: error },
  );
}

async function appliedMigrations(db: Kysely<unknown>, table: string): Promise<string[]> {
  const rows = await sql<{ name: string }>`SELECT name FROM ${sql.table(table)} ORDER BY name`.execute(db);
  return rows.rows.map(({ name }) => name);
}
