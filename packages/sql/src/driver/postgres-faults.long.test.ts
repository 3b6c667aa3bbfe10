import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { isServiceError } from "@outrigger/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres-server.ts";
import { runScript } from "../../test/child-process.ts";
import { createSqlAccounts } from "../accounts/sql-accounts.ts";
import { createSqlContactSource } from "../contacts/sql-contact-source.ts";
import { openDatabase, readyDriver, type SqlDatabase } from "../sql-database.ts";

describe("PostgreSQL that fails", () => {
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

  /** Calls until it is answered. */
  async function untilHealed(): Promise<void> {
    const accounts = createSqlAccounts(database);
    const deadlineMs = performance.now() + 20_000;
    for (;;) {
      const answer: unknown = await accounts.get("nobody").catch((error) => error);
      if (answer === null) return;
      if (performance.now() > deadlineMs) throw answer;
      await delay(50);
    }
  }

  test("hangs: calls reject within seconds, and are answered when it goes on", {
    timeout: 60_000,
  }, async () => {
    const accounts = createSqlAccounts(database);
    await accounts.get("nobody");
    await server.signal("SIGSTOP");
    try {
      const startMs = performance.now();
      const calls = Array.from({ length: 30 }, () => accounts.get("nobody").catch((error) => error));
      calls.push(
        createSqlContactSource(database)
          .erase("a@a.example")
          .catch((error) => error),
      );
      for (const error of await Promise.all(calls.slice(0, 30))) {
        expect(isServiceError(error, "store_unavailable"), String(error)).toBe(true);
      }
      // Two seconds are meant; the machine has other things to do.
      expect(performance.now() - startMs).toBeLessThan(8000);
      const again = await accounts.get("nobody").catch((error) => error);
      expect(isServiceError(again, "store_unavailable")).toBe(true);
      const erased = await calls[30];
      expect(isServiceError(erased, "store_unavailable")).toBe(true);
    } finally {
      await server.signal("SIGCONT");
    }
    await untilHealed();
  });

  test("is gone: calls reject, and are answered when it is back", { timeout: 90_000 }, async () => {
    await createSqlAccounts(database).get("nobody");
    await server.kill();
    const accounts = createSqlAccounts(database);
    for (let turn = 0; turn < 5; turn++) {
      const error = await accounts.get("nobody").catch((failure) => failure);
      expect(isServiceError(error, "store_unavailable"), String(error)).toBe(true);
    }
    await server.start();
    await untilHealed();
  });

  test("is closed at once, though it hangs", { timeout: 60_000 }, async () => {
    const other = openDatabase({ url: server.url });
    await other.ready();
    await server.signal("SIGSTOP");
    try {
      const startMs = performance.now();
      await other.close();
      expect(performance.now() - startMs).toBeLessThan(5000);
    } finally {
      await server.signal("SIGCONT");
    }
    await untilHealed();
  });

  test("keeps no process from ending when it hangs", { timeout: 60_000 }, async () => {
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

  test("refuses statements that hold others up for too long", { timeout: 60_000 }, async () => {
    const driver = await readyDriver(database);
    const failure = await driver.first("SELECT pg_sleep(30)").catch((error) => error);
    expect(isServiceError(failure, "store_unavailable")).toBe(true);
    const running = await server.sql(
      "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(30)%' AND state = 'active' AND pid <> pg_backend_pid()",
    );
    expect(Number(running)).toBeLessThanOrEqual(1);
    await untilHealed();
  });
});
