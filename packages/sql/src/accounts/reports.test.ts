import pg from "pg";
import { expect, test } from "vitest";
import { onEachDatabase } from "../../test/each-database.ts";
import { useDatabase } from "../sql-database.ts";
import { createSqlAccounts } from "./sql-accounts.ts";

const DAY_MS = 86_400_000;
const NOW = Date.parse("2026-03-01T12:00:00Z");

onEachDatabase(({ kind, createUrl, open }) => {
  test("expired reports are deleted by a process that stores its first one", async () => {
    const database = open(await createUrl());
    const addressOf = (index: number) => `p${index}@example.com`;
    const accounts = createSqlAccounts(database);
    for (let index = 0; index < 3; index++) {
      const at = NOW - (89 + index) * DAY_MS;
      await accounts.report?.({ address: addressOf(index), account: "a", kind: "bounced", at });
    }
    const later = createSqlAccounts(database);
    await later.report?.({ address: "new@example.com", account: null, kind: "delivered", at: NOW });
    const driver = await useDatabase(database).ready();
    const rows = await driver.all<{ subject: string }>("SELECT subject FROM lookup_reports ORDER BY subject");
    expect(rows.map(({ subject }) => subject)).toEqual([
      "com.example@new",
      "com.example@p0",
      "com.example@p1",
    ]);
  });

  test("every query of reports and keys uses an index", async () => {
    const url = await createUrl();
    const database = open(url);
    const driver = await useDatabase(database).ready();
    const asked: { text: string; values: readonly (string | number | null)[] }[] = [];
    const record = (text: string, values: readonly (string | number | null)[] = []) => {
      asked.push({ text, values });
    };
    const [all, first, run, write] = [
      ...[driver.all.bind(driver), driver.first.bind(driver)],
      ...[driver.run.bind(driver), driver.write.bind(driver)],
    ] as const;
    driver.all = (text, values) => {
      record(text, values);
      return all(text, values);
    };
    driver.first = (text, values) => {
      record(text, values);
      return first(text, values);
    };
    driver.run = (text, values) => {
      record(text, values);
      return run(text, values);
    };
    driver.write = (work, options) =>
      write(
        (runner) =>
          work({
            ...{ all: runner.all.bind(runner), first: runner.first.bind(runner) },
            run(text, values) {
              record(text, values);
              return runner.run(text, values);
            },
          }),
        options,
      );
    const accounts = createSqlAccounts(database);
    await accounts.report?.({ address: "ann@example.com", account: "a", kind: "bounced", at: NOW });
    await accounts.reportsOn?.("ann@example.com", "a", 0);
    await accounts.eraseReports?.("ann@example.com");
    await accounts.eraseReports?.("example.com");
    await accounts.findByKey("h".repeat(43));
    expect(asked.filter(({ text }) => text.includes("lookup_reports")).length).toBe(6);
    const client = new pg.Client(kind === "postgres" ? url : "");
    if (kind === "postgres") {
      await client.connect();
      await client.query("SET enable_seqscan = off");
    }
    for (const { text, values } of asked) {
      const plan =
        kind === "postgres"
          ? (await client.query(`EXPLAIN ${text}`, [...values])).rows
          : await all(`EXPLAIN QUERY PLAN ${text}`, values);
      expect(JSON.stringify(plan), text).not.toMatch(/(?:Seq Scan on|SCAN) lookup_(?:reports|keys)/);
    }
    await client.end();
  });
});
