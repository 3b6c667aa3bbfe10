import { ServiceError } from "@outrigger/core";
import type { SuppressionList } from "@outrigger/core/lookup";
import { type SqlDatabase, useDatabase } from "./sql-database.ts";

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/**
 * Suppressions in a database. Closing the list leaves the database open. Malformed tokens reject with
 * `bad_request`.
 */
export function createSqlSuppressionList(database: SqlDatabase): SuppressionList {
  const driver = useDatabase(database);
  const given = driver.dialect.strings("$1");
  const INSERT = `INSERT INTO lookup_suppressions (token) SELECT value FROM ${given} AS given WHERE true ON CONFLICT DO NOTHING`;

  return {
    async add(tokens) {
      await driver.run(INSERT, [listOf(tokens)]);
    },
    async claim(token, others) {
      const [one, list] = [listOf([token]), listOf(others)];
      return await driver.write(async (runner) => {
        // In PostgreSQL, the insert waits for another transaction that is adding the same key.
        const added = await runner.run(INSERT, [one]);
        if (added > 0) await runner.run(INSERT, [list]);
        return added > 0;
      });
    },
    async remove(tokens) {
      return await driver.run(`DELETE FROM lookup_suppressions WHERE token IN ${given}`, [listOf(tokens)]);
    },
    async present(tokens) {
      const row = await driver.first<{ found: string | null }>(
        `SELECT string_agg(token, ' ') AS found FROM lookup_suppressions WHERE token IN ${given}`,
        [listOf(tokens)],
      );
      return new Set(row?.found?.split(" "));
    },
    async count() {
      const row = await driver.first<{ count: number }>("SELECT count(*) AS count FROM lookup_suppressions");
      return row?.count ?? 0;
    },
    close: () => driver.close(),
  };
}

function listOf(tokens: readonly string[]): string {
  if (!tokens.every((token) => TOKEN.test(token))) {
    throw new ServiceError("bad_request", "A token must have 43 characters of A-Z, a-z, 0-9, _ and -.");
  }
  return JSON.stringify(tokens);
}
