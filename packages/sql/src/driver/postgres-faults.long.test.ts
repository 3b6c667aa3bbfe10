import { once } from "node:events";
import { createServer } from "node:net";
import { isServiceError } from "@outrigger/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres-server.ts";
import { runScript } from "../../test/child-process.ts";
import { createSqlAccounts } from "../accounts/sql-accounts.ts";
import { createSqlContactSource } from "../contacts/sql-contact-source.ts";
import { PostgresDriver } from "../driver/postgres-driver.ts";
import { openDatabase, type SqlDatabase, useDatabase } from "../sql-database.ts";

describe("a PostgreSQL server", () => {
  let server: PostgresServer;
  let database: SqlDatabase;
  beforeAll(async () => {
    server = await startPostgres();
    database = openDatabase({ url: server.url });
    await database.ready();
  });
  afterAll(async () => {
    await database.close();
    await server.close();
  });

  /** Repeats a call until the server answers. */
  async function untilHealed(): Promise<void> {
    const accounts = createSqlAccounts(database);
    await expect.poll(() => accounts.get("absent")).toBeNull();
  }

  test("calls reject while PostgreSQL hangs, and succeed when it resumes", async () => {
    const accounts = createSqlAccounts(database);
    await accounts.get("absent");
    await server.signal("SIGSTOP");
    try {
      const calls = Array.from({ length: 30 }, () => accounts.get("absent").catch((error) => error));
      calls.push(
        createSqlContactSource(database)
          .erase("a@a.example")
          .catch((error) => error),
      );
      for (const error of await Promise.all(calls.slice(0, 30))) {
        expect(isServiceError(error, "store_unavailable"), String(error)).toBe(true);
      }
      const again = await accounts.get("absent").catch((error) => error);
      expect(isServiceError(again, "store_unavailable")).toBe(true);
      const erased = await calls[30];
      expect(isServiceError(erased, "store_unavailable")).toBe(true);
    } finally {
      await server.signal("SIGCONT");
    }
    await untilHealed();
  });

  test("calls reject while PostgreSQL is down, and succeed after its restart", async () => {
    await createSqlAccounts(database).get("absent");
    await server.kill();
    const accounts = createSqlAccounts(database);
    for (let turn = 0; turn < 5; turn++) {
      const error = await accounts.get("absent").catch((failure) => failure);
      expect(isServiceError(error, "store_unavailable"), String(error)).toBe(true);
    }
    await server.start();
    await untilHealed();
  });

  test("that hangs does not delay the close of the database", async () => {
    const other = openDatabase({ url: server.url });
    await other.ready();
    await server.signal("SIGSTOP");
    try {
      await other.close();
    } finally {
      await server.signal("SIGCONT");
    }
    await untilHealed();
  });

  test("a hanging PostgreSQL does not keep a process alive after its database was closed", async () => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const address = silent.address();
    const port = typeof address === "object" ? address?.port : 0;
    try {
      const script = `
        import { openDatabase } from "@outrigger/sql";
        const database = openDatabase({ url: process.argv.at(-1), timeoutMs: 500 });
        console.log(await database.ready().catch((error) => error.code));
        await database.close();
      `;
      expect(await runScript(script, [`postgres://test@127.0.0.1:${port}/x`]).output).toBe(
        "store_unavailable\n",
      );
    } finally {
      silent.close();
    }
  });

  test("a statement's deadline follows the server's clock, also if that is set while a connection is open", async () => {
    await server.sql("CREATE TABLE deadlines (at float8, now float8)");
    const sole = new PostgresDriver({ url: server.url, maxConnections: 1, timeoutMs: 2000 });
    const leftMs = async () => {
      const insert = "INSERT INTO deadlines SELECT $1::float8, extract(epoch FROM clock_timestamp()) * 1000";
      await sole.runInTime(insert, []);
      const left = "SELECT max(at - now) FROM (SELECT * FROM deadlines ORDER BY now DESC LIMIT 1) AS last";
      return Number(await server.sql(left));
    };
    const real = performance.now;
    try {
      expect(await leftMs()).toBeLessThanOrEqual(2000);
      // For the process, the server's clock is now an hour behind.
      performance.now = () => real.call(performance) + 3_600_000;
      expect(await leftMs()).toBeLessThanOrEqual(2000);
    } finally {
      performance.now = real;
      await sole.close();
    }
  });

  test("that reports serialization failures runs the statement again on the same connection, after pauses", async () => {
    await server.sql(
      "CREATE SEQUENCE tries; CREATE FUNCTION clash(until int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF nextval('tries') < until THEN RAISE EXCEPTION 'clash' USING ERRCODE = '40001'; END IF; RETURN pg_backend_pid(); END $$",
    );
    const sole = openDatabase({ url: server.url, maxConnections: 1, timeoutMs: 4000 });
    try {
      const driver = useDatabase(sole);
      const before = await driver.first("SELECT pg_backend_pid() AS pid");
      expect(await driver.first("SELECT clash(5) AS pid")).toEqual(before);
      const failure = await driver.first("SELECT clash(1000000)").catch((error) => error);
      expect(isServiceError(failure, "store_unavailable")).toBe(true);
      // About 400 within the time limit.
      expect(Number(await server.sql("SELECT last_value FROM tries"))).toBeLessThan(1000);
    } finally {
      await sole.close();
    }
  });
});
