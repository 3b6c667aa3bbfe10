import {
  accountsContract,
  blobStoreContract,
  contactSourceContract,
  dueIndexContract,
  leaseStoreContract,
  suppressionListContract,
} from "@outrigger/testing";
import { afterAll, beforeAll, test } from "vitest";
import { createSqlAccounts } from "../src/accounts/sql-accounts.ts";
import { createSqlBlobStore } from "../src/blobs/sql-blob-store.ts";
import { putContacts } from "../src/contacts/put-contacts.ts";
import { createSqlContactSource } from "../src/contacts/sql-contact-source.ts";
import { openDatabase, type SqlDatabase } from "../src/sql-database.ts";
import { createSqlSuppressionList } from "../src/sql-suppression-list.ts";

/** Runs the suites of the lookup on two handles of one database, as two processes would have. */
export function lookupContracts(url: () => string): void {
  let handles: SqlDatabase[] = [];
  beforeAll(() => {
    handles = [url(), url()].map((each) => openDatabase({ url: each, timeoutMs: 20_000 }));
  });
  afterAll(async () => {
    for (const handle of handles) await handle.close();
  });
  const first = () => handles[0] ?? openDatabase({ url: url() });
  const second = () => handles[1] ?? openDatabase({ url: url() });
  contactSourceContract(test, async () => createSqlContactSource(first()), {
    load: async (_source, { contacts, organizations = {} }) => {
      await putContacts(second(), contacts, { organizations });
    },
  });
  accountsContract(test, async () => createSqlAccounts(first()), {
    openAnother: async () => createSqlAccounts(second()),
  });
  suppressionListContract(test, async () => createSqlSuppressionList(first()), {
    openAnother: async () => createSqlSuppressionList(second()),
  });
}

/** Runs the suites of a store of records. @returns what opens a store. */
export function recordsContracts(url: () => string) {
  const open = async () => createSqlBlobStore({ url: url(), timeoutMs: 20_000 });
  blobStoreContract(test, open, { abilities: ["due index", "record queries"] });
  dueIndexContract(test, open, { reopen: open });
  // Concurrent, because these tests wait for leases to expire.
  leaseStoreContract(test.concurrent, open, { openAnother: open });
  return open;
}
