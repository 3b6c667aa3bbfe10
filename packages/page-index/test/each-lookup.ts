import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, type SqlDatabase } from "@outrigger/sql";
import Libsql from "libsql";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { type PostgresServer, startPostgres } from "../../../test/support/postgres-server.ts";

/** A new database, which is closed after the test, and statements beside it. */
export interface TestLookup {
  url: string;
  database: SqlDatabase;
  /** Another connection to the same data. */
  open(): SqlDatabase;
  /** @param values of `$1` and so on. */
  query(text: string, values?: readonly (string | number)[]): Promise<Record<string, unknown>[]>;
}

type Kind = SqlDatabase["kind"];
type Tests = (create: () => Promise<TestLookup>, kind: Kind) => void;

/**
 * Runs the same tests on each kind, by default on an embedded database and on PostgreSQL, with the package as the other
 * tests load it.
 */
export function onEachLookup(tests: Tests, kinds: readonly Kind[] = ["sqlite", "postgres"]): void {
  for (const kind of kinds) (kind === "sqlite" ? onEmbedded : onPostgres)(tests);
}

function onEmbedded(tests: Tests): void {
  describe("in an embedded database", () => {
    let directory = "";
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "outrigger-pages-"));
    });
    afterAll(() => rm(directory, { recursive: true, force: true }));
    tests(
      creator(async (name) => `file:${join(directory, name)}`, querySqlite),
      "sqlite",
    );
  });
}

function onPostgres(tests: Tests): void {
  describe("in PostgreSQL", () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server.close());
    tests(
      creator((name) => server.createDatabase(name), queryPostgres),
      "postgres",
    );
  });
}

function creator(
  createUrl: (name: string) => Promise<string>,
  query: (
    url: string,
    text: string,
    values: readonly (string | number)[],
  ) => Promise<Record<string, unknown>[]>,
): () => Promise<TestLookup> {
  const opened: SqlDatabase[] = [];
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.close();
  });
  return async () => {
    const url = await createUrl(`t${randomBytes(6).toString("hex")}`);
    const open = () => {
      const database = openDatabase({ url, timeoutMs: 20_000 });
      opened.push(database);
      return database;
    };
    return { url, database: open(), open, query: (text, values = []) => query(url, text, values) };
  };
}

async function querySqlite(url: string, text: string, values: readonly (string | number)[]) {
  const database = new Libsql(url.slice("file:".length), { timeout: 5000 });
  try {
    const statement = database.prepare(text.replaceAll(/\$(\d+)/g, "?$1"));
    if (statement.reader) return statement.all([...values]) as Record<string, unknown>[];
    statement.run([...values]);
    return [];
  } finally {
    database.close();
  }
}

async function queryPostgres(url: string, text: string, values: readonly (string | number)[]) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
