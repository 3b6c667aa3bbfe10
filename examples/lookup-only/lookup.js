// @ts-check
import { createReadStream } from "node:fs";
import { createLookup } from "@outrigger/core";
import { createSuppressions } from "@outrigger/core/lookup";
import {
  createSqlAccounts,
  createSqlContactSource,
  createSqlSuppressionList,
  importContacts,
  openDatabase,
} from "@outrigger/sql";
import { createMailLists } from "@outrigger/verifier";

/**
 * The email lookup over a database file. It asks no mail server: for that, add `prober: createMailProber({ smtp })` of
 * `@outrigger/verifier`.
 * @param {{ url: string, secret: string }} options `url`: `file:…` or `postgres://…`. `secret`: at least 32 bytes, the same
 *   at every start, as suppressions are stored under keys derived from it.
 */
export function openLookup({ url, secret }) {
  const database = openDatabase({ url });
  const suppressionList = createSqlSuppressionList(database);
  const lookup = createLookup({
    contacts: createSqlContactSource(database),
    accounts: createSqlAccounts(database),
    suppressions: suppressionList,
    lists: createMailLists(),
    secret,
  });

  return {
    lookup,

    /**
     * Imports contacts, except suppressed people. Importing a file again changes nothing.
     * @param {string | URL} file CSV with a header line.
     */
    importFile: (file) =>
      importContacts(database, createReadStream(file), {
        format: "csv",
        isSuppressed: createSuppressions(suppressionList, secret).among,
      }),

    /** Closes the lookup, then the database that it was given. */
    async close() {
      await lookup.close();
      await database.close();
    },
  };
}
