import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isServiceError } from "@outrigger/core";
import { describe, expect, test } from "vitest";
import { personOf } from "../../testing/src/contact-source/samples.ts";
import { runScript } from "../test/child-process.ts";
import { onEachDatabase } from "../test/each-database.ts";
import { createSqlAccounts } from "./accounts/sql-accounts.ts";
import { putContacts } from "./contacts/put-contacts.ts";
import { createSqlContactSource } from "./contacts/sql-contact-source.ts";
import { openDatabase, useDatabase } from "./sql-database.ts";
import { createSqlSuppressionList } from "./sql-suppression-list.ts";

const MONTH = "2026-03";
const NOW_MS = Date.UTC(2026, 2, 15);

onEachDatabase(({ createUrl, open }) => {
  test("five processes that start at once create the schema once and can all write", async () => {
    const url = await createUrl();
    const script = `
      import { createSqlAccounts, openDatabase } from "@outrigger/sql";
      const database = openDatabase({ url: process.argv.at(-1), timeoutMs: 20000 });
      await database.ready();
      const accounts = createSqlAccounts(database);
      const account = { email: null, firstName: null, lastName: null, plan: "free", createdAt: 1 };
      for (let index = 0; index < 20; index++) await accounts.create({ ...account, id: process.pid + "-" + index });
      await database.close();
    `;
    const processes = Array.from({ length: 5 }, () => runScript(script, [url]));
    await Promise.all(processes.map(({ output }) => output));
    const listed = await createSqlAccounts(open(url)).list({ limit: 1000 });
    expect(listed.length).toBe(100);
  });

  test("exactly 100 of 1,000 concurrent reservations by two processes succeed when 100 points are left", async () => {
    const url = await createUrl();
    const database = open(url);
    await database.ready();
    const script = `
      import { createSqlAccounts, openDatabase } from "@outrigger/sql";
      const database = openDatabase({ url: process.argv.at(-1), timeoutMs: 20000 });
      const accounts = createSqlAccounts(database);
      const results = await Promise.all(Array.from({ length: 500 }, async (_, index) => {
        const charge = { account: "a", kind: "searches", month: "${MONTH}", request: process.pid + "-" + index };
        const result = await accounts.reserve(charge, 1, 100, ${NOW_MS});
        if (result.outcome === "reserved") await accounts.settle(charge, 1);
        return result.outcome;
      }));
      console.log(results.filter((outcome) => outcome === "reserved").length);
      await database.close();
    `;
    const outputs = await Promise.all([runScript(script, [url]).output, runScript(script, [url]).output]);
    expect(outputs.reduce((sum, output) => sum + Number(output), 0)).toBe(100);
    const later = NOW_MS + 86_400_000;
    expect(await createSqlAccounts(database).usage("a", MONTH, later)).toEqual({
      searches: 100,
      verifications: 0,
    });
  });

  test.each([
    [
      "of another version",
      "UPDATE lookup_schema SET version = 99",
      "lookup_schema has version 99 instead of 1",
    ],
    ["without a version", "DROP TABLE lookup_schema", "there is lookup_domains without lookup_schema"],
  ])("a database %s is refused with host_misuse and not changed", async (_, change, why) => {
    const url = await createUrl();
    const database = open(url);
    const people = [personOf("a.example", "ada", "Ada", "Lovelace")];
    await putContacts(database, people);
    const driver = useDatabase(database);
    await driver.run(change);
    const failures = [open(url).ready(), createSqlAccounts(open(url)).get("a")];
    for (const failure of await Promise.allSettled(failures)) {
      const error: unknown = failure.status === "rejected" ? failure.reason : undefined;
      expect(isServiceError(error, "host_misuse")).toBe(true);
      expect(String(error)).toContain(why);
    }
    expect(await open(url).isMade()).toBe(true);
    expect(await createSqlContactSource(database).find("ada@a.example")).toEqual(people[0]);
  });

  test("closing one part leaves the database open, and closing the database closes all its parts", async () => {
    const url = await createUrl();
    const database = open(url);
    const [accounts, source, list] = [
      createSqlAccounts(database),
      createSqlContactSource(database),
      createSqlSuppressionList(database),
    ];
    await accounts.close();
    expect(await list.count()).toBe(0);
    await database.close();
    await database.close();
    for (const call of [() => source.domain("a.example"), () => list.count(), () => database.ready()]) {
      expect(isServiceError(await call().catch((error) => error), "store_unavailable")).toBe(true);
    }
  });

  test("charges older than the previous month are deleted, and the month's usage is kept", async () => {
    const database = open(await createUrl());
    const accounts = createSqlAccounts(database);
    const charge = (month: string) => ({ account: "a", kind: "searches" as const, month, request: "r" });
    for (const [month, day] of [
      ["2026-01", Date.UTC(2026, 0, 5)],
      ["2026-02", Date.UTC(2026, 1, 5)],
      ["2026-03", Date.UTC(2026, 2, 5)],
    ] as const) {
      await accounts.reserve(charge(month), 1, 10, day);
      await accounts.settle(charge(month), 1);
    }
    const driver = useDatabase(database);
    const rows = await driver.all<{ month: string }>("SELECT month FROM lookup_charges ORDER BY month");
    expect(rows.map(({ month }) => month)).toEqual(["2026-02", "2026-03"]);
    expect((await accounts.usage("a", "2026-01", NOW_MS)).searches).toBe(1);
  });
});

describe("an embedded database", () => {
  test.each([
    [{ url: "lookup.db" }],
    [{ url: "file:" }],
    [{ url: "file::memory:" }],
    [{ url: "http://a.example/" }],
    [{ url: "postgres:/x" }],
    [{ url: "file:x", timeoutMs: 1 }],
    [{ url: "file:x", timeoutMs: Number.NaN }],
    [{ url: "postgres://a.example/x", maxConnections: 0 }],
  ])("throws a TypeError for the options %j", (options) => {
    expect(() => openDatabase(options)).toThrow(TypeError);
  });

  test("writes ahead, and waits for no disk", async () => {
    const directory = await mkdtemp(join(tmpdir(), "outrigger-sql-"));
    const database = openDatabase({ url: `file:${join(directory, "lookup.db")}` });
    try {
      const driver = useDatabase(database);
      expect(await driver.first("PRAGMA synchronous")).toMatchObject({ synchronous: 1 });
      expect(await driver.first("PRAGMA journal_mode")).toMatchObject({ journal_mode: "wal" });
    } finally {
      await database.close();
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("lets a checkpoint truncate the whole log after reads and writes", async () => {
    const directory = await mkdtemp(join(tmpdir(), "outrigger-sql-"));
    const database = openDatabase({ url: `file:${join(directory, "lookup.db")}` });
    try {
      const list = createSqlSuppressionList(database);
      for (let turn = 0; turn < 3; turn++) {
        await list.add(["a", "b"].map((letter) => letter.repeat(42) + turn));
        await list.present([`${"a".repeat(42)}${turn}`]);
        await list.count();
      }
      const driver = useDatabase(database);
      expect(await driver.first("PRAGMA wal_checkpoint(TRUNCATE)")).toMatchObject({ busy: 0, log: 0 });
      expect((await stat(join(directory, "lookup.db-wal"))).size).toBe(0);
    } finally {
      await database.close();
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("in a missing directory rejects ready() with store_unavailable", async () => {
    const database = openDatabase({ url: "file:/nowhere/at/all/lookup.db" });
    const failure = await database.ready().catch((error) => error);
    expect(isServiceError(failure, "store_unavailable")).toBe(true);
    await database.close();
  });
});
