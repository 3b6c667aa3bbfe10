import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  accountsContract,
  blobStoreContract,
  contactSourceContract,
  dueIndexContract,
  leaseStoreContract,
  suppressionListContract,
  verificationQueueContract,
} from "@outrigger/testing";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type PostgresServer, startPostgres } from "../../../test/support/postgres-server.ts";
import { createSqlAccounts } from "./accounts/sql-accounts.ts";
import { createSqlBlobStore } from "./blobs/sql-blob-store.ts";
import { putContacts } from "./contacts/put-contacts.ts";
import { createSqlContactSource } from "./contacts/sql-contact-source.ts";
import { openDatabase, type SqlDatabase } from "./sql-database.ts";
import { createSqlSuppressionList } from "./sql-suppression-list.ts";
import { createSqlVerificationQueue } from "./verifications/sql-verification-queue.ts";

describe("in an embedded database", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "outrigger-sql-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  contracts(() => `file:${join(directory, "lookup.db")}`);
});

describe("in PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());
  contracts(() => server.url);
  const open = async () => createSqlBlobStore({ url: server.url, timeoutMs: 20_000 });
  blobStoreContract(test, open, { abilities: ["due index", "ranges", "record queries"] });
  dueIndexContract(test, open, { reopen: open });
  // Concurrent, because these tests wait for leases to expire.
  leaseStoreContract(test.concurrent, open, { openAnother: open });
});

/** Runs the contract suites on two handles of one database, as two processes would have. */
function contracts(url: () => string): void {
  let [one, another]: SqlDatabase[] = [];
  beforeAll(() => {
    [one, another] = [url(), url()].map((each) => openDatabase({ url: each, timeoutMs: 20_000 }));
  });
  afterAll(async () => {
    await Promise.all([one?.close(), another?.close()]);
  });
  const first = () => one ?? openDatabase({ url: url() });
  const second = () => another ?? openDatabase({ url: url() });
  contactSourceContract(test, async () => createSqlContactSource(first()), {
    load: async (_source, { contacts, organizations }) => {
      await putContacts(second(), contacts, organizations === undefined ? {} : { organizations });
    },
  });
  accountsContract(test, async () => createSqlAccounts(first()), {
    openAnother: async () => createSqlAccounts(second()),
  });
  suppressionListContract(test, async () => createSqlSuppressionList(first()), {
    openAnother: async () => createSqlSuppressionList(second()),
  });
  verificationQueueContract(test, async () => createSqlVerificationQueue(first()), {
    openAnother: async () => createSqlVerificationQueue(second()),
  });
}
