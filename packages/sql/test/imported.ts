import { createSqlContactSource } from "../src/contacts/sql-contact-source.ts";
import type { BadLine } from "../src/transfer/file-line.ts";
import { type ImportOptions, importContacts } from "../src/transfer/import-contacts.ts";
import type { TestDatabases } from "./each-database.ts";
import { fileOf } from "./sample-files.ts";

/** Imports a text, by default CSV, into a new database. */
export function importer({ createUrl, open }: Pick<TestDatabases, "createUrl" | "open">) {
  return async (text: string | Uint8Array, options: Partial<ImportOptions> = {}) => {
    const database = open(await createUrl());
    const bad: BadLine[] = [];
    const progress = await importContacts(database, fileOf(text), {
      format: "csv",
      onBadLine: (line) => bad.push(line),
      ...options,
    });
    return { database, source: createSqlContactSource(database), bad, progress };
  };
}
