import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PgBouncer, startPgBouncer } from "../../../../test/support/pgbouncer.ts";
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres-server.ts";
import { partOf } from "../../../../test/support/soak.ts";
import { lookupContracts, recordsContracts } from "../../test/contracts.ts";
import { createSqlBlobStore } from "./sql-blob-store.ts";

describe("behind PgBouncer in transaction mode", () => {
  let server: PostgresServer;
  let pooler: PgBouncer;
  beforeAll(async () => {
    server = await startPostgres();
    pooler = await startPgBouncer(server.port);
  });
  afterAll(async () => {
    await pooler.close();
    await server.close();
  });

  const open = recordsContracts(() => pooler.url);
  describe.each(partOf(["lookup"], []))("contracts of the %s", () => lookupContracts(() => pooler.url));

  test("of many conditional writes at once one succeeds and the others reject with conflict, also where the role's isolation is serializable", async () => {
    await server.sql("ALTER ROLE test SET default_transaction_isolation = 'serializable'");
    const another = await startPgBouncer(server.port);
    const stores = Array.from({ length: 3 }, () =>
      createSqlBlobStore({ url: another.url, timeoutMs: 20_000 }),
    );
    try {
      const key = "race/record";
      const ifRevision = (await stores[0]?.put(key, Buffer.from("x")))?.revision ?? null;
      // The writes begin before this transaction ends, and so conflict with it.
      const lock = `BEGIN; UPDATE images_blobs SET size = size WHERE key = '${key}'`;
      const holder = server.sql(`${lock}; SELECT pg_sleep(2); COMMIT`);
      const waitingFor = (event: string) =>
        expect
          .poll(() => server.sql(`SELECT count(*) FROM pg_stat_activity WHERE wait_event = '${event}'`))
          .not.toBe("0");
      await waitingFor("PgSleep");
      const writes = Array.from({ length: 24 }, (_, at) =>
        stores[at % 3]?.put(key, Buffer.from(`${at}`), { ifRevision }).then(
          () => "stored",
          (error) => error.code,
        ),
      );
      await waitingFor("transactionid");
      await holder;
      expect((await Promise.all(writes)).sort()).toEqual([...Array(23).fill("conflict"), "stored"]);
    } finally {
      for (const store of stores) await store.close();
      await another.close();
      await server.sql("ALTER ROLE test RESET default_transaction_isolation");
    }
  });

  test("no setting and no prepared statement of a store stays in a session, which the next client gets", async () => {
    const store = await open();
    await Promise.all(Array.from({ length: 20 }, (_, at) => store.put(`a/${at}`, Buffer.from("x"))));
    await store.close();
    const client = new pg.Client({ connectionString: pooler.url });
    await client.connect();
    try {
      const { rows } = await client.query(
        "SELECT current_setting('statement_timeout') AS timeout, (SELECT count(*)::int FROM pg_prepared_statements) AS prepared",
      );
      expect(rows).toEqual([{ timeout: "0", prepared: 0 }]);
    } finally {
      await client.end();
    }
  });
});
