import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { type PostgresServer, startPostgres } from "../../../test/support/postgres-server.ts";
import { openDatabase, type SqlDatabase, type SqlDatabaseOptions } from "../src/sql-database.ts";

/** Empty databases of one kind, which are closed after the test that made them. */
export interface TestDatabases {
  kind: SqlDatabase["kind"];
  /** The URL of a new database. */
  createUrl(): Promise<string>;
  /**
   * Opens a database that is closed after the test. Its default time limit of 20 s allows for a busy machine.
   */
  open(url: string, options?: Partial<SqlDatabaseOptions>): SqlDatabase;
}

type Kinds = readonly SqlDatabase["kind"][];

/** Runs the same tests on each kind: by default on an embedded database and on PostgreSQL. */
export function onEachDatabase(
  tests: (databases: TestDatabases) => void,
  kinds: Kinds = ["sqlite", "postgres"],
): void {
  for (const kind of kinds) (kind === "sqlite" ? onEmbedded : onPostgres)(tests);
}

function onEmbedded(tests: (databases: TestDatabases) => void): void {
  describe("in an embedded database", () => {
    let directory = "";
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "outrigger-sql-"));
    });
    afterAll(() => rm(directory, { recursive: true, force: true }));
    tests({ kind: "sqlite", createUrl: async () => `file:${join(directory, randomName())}`, open: opener() });
  });
}

function onPostgres(tests: (databases: TestDatabases) => void): void {
  describe("in PostgreSQL", () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server.close());
    tests({ kind: "postgres", createUrl: () => server.createDatabase(randomName()), open: opener() });
  });
}

function opener(): TestDatabases["open"] {
  const opened: SqlDatabase[] = [];
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.close();
  });
  return (url, options = {}) => {
    const database = openDatabase({ url, timeoutMs: 20_000, ...options });
    opened.push(database);
    return database;
  };
}

function randomName(): string {
  return `t${randomBytes(6).toString("hex")}`;
}
