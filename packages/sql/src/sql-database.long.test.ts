import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
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
import { importContacts } from "./transfer/import-contacts.ts";

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

  test("a database of a newer version is refused with host_misuse and not changed", async () => {
    const url = await createUrl();
    const driver = useDatabase(open(url));
    await driver.run("INSERT INTO lookup_migrations (name, timestamp) VALUES ($1, $2)", [
      "999-later",
      "2030",
    ]);
    const applied = "SELECT name FROM lookup_migrations ORDER BY name";
    const before = await driver.all(applied);
    const failures = [open(url).ready(), createSqlAccounts(open(url)).get("a")];
    for (const failure of await Promise.allSettled(failures)) {
      const error: unknown = failure.status === "rejected" ? failure.reason : undefined;
      expect(isServiceError(error, "host_misuse")).toBe(true);
      expect(String(error)).toContain("999-later");
    }
    expect(await driver.all(applied)).toEqual(before);
  });

  test("opening a database of an earlier version adds the keys by which people are found in other spellings", async () => {
    const url = await createUrl();
    const database = open(url);
    const people = Array.from({ length: 2500 }, (_, index) =>
      personOf("a.example", `p${index}`, "Ada", "Lovelace"),
    );
    const yulia = personOf("a.example", "yulia", "Юлия", "Петрова");
    await putContacts(database, [...people, yulia]);
    const driver = useDatabase(database);
    for (const index of ["spelling", "unspelled"]) await driver.run(`DROP INDEX lookup_contacts_${index}`);
    await driver.run("ALTER TABLE lookup_contacts DROP COLUMN spelling_key");
    // Later migrations create tables, which this database keeps.
    await driver.run("DELETE FROM lookup_migrations WHERE name >= '004' AND name < '009'");
    await database.close();
    const [one, another] = [open(url), open(url)];
    await Promise.all([one.ready(), another.ready()]);
    const source = createSqlContactSource(one);
    expect(await source.findByName("a.example", "Julia", "Petrova")).toEqual([yulia]);
    const missing = await useDatabase(one).first<{ count: number }>(
      "SELECT count(*) AS count FROM lookup_contacts WHERE spelling_key IS NULL",
    );
    expect(missing?.count).toBe(0);
  });

  test("patterns that an earlier version stored without habits are learned again", async () => {
    const url = await createUrl();
    const database = open(url);
    const driver = useDatabase(database);
    await driver.run("DELETE FROM lookup_migrations WHERE name = $1", ["005-habits"]);
    const header = "email,first_name,last_name,uri,extracted_on,last_seen_on\n";
    const line = "petra.mueller@a.example,Petra,Müller,https://a.example/team,2026-01-01,2026-02-01\n";
    await importContacts(database, Readable.from([Buffer.from(header + line)]), { format: "csv" });
    await driver.run("UPDATE lookup_domains SET patterns = $1", [
      JSON.stringify([{ pattern: "{first}.{last}", count: 1 }]),
    ]);
    expect((await createSqlContactSource(open(url)).domain("a.example"))?.patterns).toEqual([
      { pattern: "{first}.{last}", count: 1, habits: { "umlaut.two": 1 } },
    ]);
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

  test.each([
    ["process", 1],
    ["power", 2],
  ] as const)("with durability %s has synchronous = %d", async (durability, synchronous) => {
    const directory = await mkdtemp(join(tmpdir(), "outrigger-sql-"));
    const database = openDatabase({ url: `file:${join(directory, "lookup.db")}`, durability });
    try {
      const driver = useDatabase(database);
      expect(await driver.first("PRAGMA synchronous")).toMatchObject({ synchronous });
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
