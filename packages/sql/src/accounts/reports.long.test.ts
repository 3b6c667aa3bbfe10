import pg from "pg";
import { expect, test } from "vitest";
import { onEachDatabase } from "../../test/each-database.ts";
import { useDatabase } from "../sql-database.ts";
import { createSqlAccounts } from "./sql-accounts.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

onEachDatabase(({ kind, createUrl, open }) => {
  test("a failure to delete reports over the maximum does not reject the report", async () => {
    const database = open(await createUrl());
    const driver = await useDatabase(database).ready();
    const run = driver.run.bind(driver);
    driver.run = async (text, values) => {
      if (text.startsWith("DELETE")) throw new Error("a statement that takes too long");
      return await run(text, values);
    };
    const accounts = createSqlAccounts(database);
    const report = { address: "ann@example.com", account: "a", kind: "bounced", at: NOW } as const;
    await accounts.report?.(report);
    expect(await accounts.reportsOn?.(report.address, "a", 0)).toEqual([report]);
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
    await accounts.report?.({ address: "bob@example.com", account: null, kind: "bounced", at: 1 });
    await accounts.removeReports?.(2, async () => undefined);
    await accounts.eraseReports?.("ann@example.com");
    await accounts.eraseReports?.("example.com");
    await accounts.findByKey("h".repeat(43));
    expect(asked.filter(({ text }) => text.includes("lookup_reports")).length).toBe(9);
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
