import { ServiceError } from "@outrigger/core";
import type { SuppressionList } from "@outrigger/core/lookup";
import { useDatabase } from "./database-use.ts";
import type { SqlDriver } from "./driver/sql-driver.ts";
import type { SqlDatabase } from "./sql-database.ts";

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/**
 * Suppressions in a database. Closing the list leaves the database open. Malformed tokens reject with
 * `bad_request`.
 */
export function createSqlSuppressionList(database: SqlDatabase): SuppressionList {
  const use = useDatabase(database);

  return {
    async add(tokens) {
      const list = listOf(tokens);
      const driver = await use.driver();
      await driver.run(insertInto(driver), [list]);
    },
    async claim(token, others) {
      const [one, list] = [listOf([token]), listOf(others)];
      const driver = await use.driver();
      return await driver.write(async (runner) => {
        // In PostgreSQL, the insert waits for another transaction that is adding the same key.
        const added = await runner.run(insertInto(driver), [one]);
        if (added > 0) await runner.run(insertInto(driver), [list]);
        return added > 0;
      });
    },
    async remove(tokens) {
      const list = listOf(tokens);
      const driver = await use.driver();
      const { dialect } = driver;
      return await driver.run(`DELETE FROM lookup_suppressions WHERE token IN ${dialect.strings("$1")}`, [
        list,
      ]);
    },
    async present(tokens) {
      const list = listOf(tokens);
      const driver = await use.driver();
      const { dialect } = driver;
      const row = await driver.first<{ found: string | null }>(
        `SELECT string_agg(token, ' ') AS found FROM lookup_suppressions WHERE token IN ${dialect.strings("$1")}`,
        [list],
      );
      return new Set(row?.found?.split(" "));
    },
    async count() {
      const driver = await use.driver();
      const row = await driver.first<{ count: number }>("SELECT count(*) AS count FROM lookup_suppressions");
      return row?.count ?? 0;
    },
    close: use.close,
  };
}

function insertInto({ dialect }: SqlDriver): string {
  return `INSERT INTO lookup_suppressions (token) SELECT value FROM ${dialect.strings("$1")} AS given WHERE true ON CONFLICT DO NOTHING`;
}

function listOf(tokens: readonly string[]): string {
  if (!tokens.every((token) => TOKEN.test(token))) {
    throw new ServiceError("bad_request", "A token must have 43 characters of A-Z, a-z, 0-9, _ and -.");
  }
  return JSON.stringify(tokens);
}
