import {
  accountsContract,
  blobStoreContract,
  contactSourceContract,
  dueIndexContract,
  leaseStoreContract,
  suppressionListContract,
  verificationQueueContract,
} from "@outrigger/core/testing";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PgBouncer, startPgBouncer } from "../../../../test/support/pgbouncer.ts";
import { type PostgresServer, startPostgres } from "../../../../test/support/postgres-server.ts";
import { createSqlAccounts } from "../accounts/sql-accounts.ts";
import { putContacts } from "../contacts/put-contacts.ts";
import { createSqlContactSource } from "../contacts/sql-contact-source.ts";
import { openDatabase, type SqlDatabase } from "../sql-database.ts";
import { createSqlSuppressionList } from "../sql-suppression-list.ts";
import { createSqlVerificationQueue } from "../verifications/sql-verification-queue.ts";
import { createSqlBlobStore } from "./sql-blob-store.ts";

describe("behind PgBouncer in transaction mode", () => {
  let server: PostgresServer;
  let pooler: PgBouncer;
  let database: SqlDatabase | undefined;
  beforeAll(async () => {
    server = await startPostgres();
    pooler = await startPgBouncer(server.port);
  });
  afterAll(async () => {
    await database?.close();
    await pooler.close();
    await server.close();
  });

  const open = async () => createSqlBlobStore({ url: pooler.url, timeoutMs: 20_000 });
  blobStoreContract(test, open, { abilities: ["due index", "ranges", "record queries"] });
  dueIndexContract(test, open, { reopen: open });
  leaseStoreContract(test.concurrent, open, { openAnother: open });
  const opened = () => {
    database ??= openDatabase({ url: pooler.url, timeoutMs: 20_000 });
    return database;
  };
  accountsContract(test, async () => createSqlAccounts(opened()));
  contactSourceContract(test, async () => createSqlContactSource(opened()), {
    load: async (_source, { contacts, organizations = {} }) => {
      await putContacts(opened(), contacts, { organizations });
    },
  });
  suppressionListContract(test, async () => createSqlSuppressionList(opened()));
  verificationQueueContract(test, async () => createSqlVerificationQueue(opened()));

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
