import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setImmediate as breathe } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { partOf } from "../../../../test/support/soak.ts";
import { runScript } from "../../test/child-process.ts";
import { onEachDatabase, type TestDatabases } from "../../test/each-database.ts";
import { domainOf, fileOf, HEADER, personFile, personLine, textOf } from "../../test/sample-files.ts";
import { refreshContacts } from "../contacts/refresh-contacts.ts";
import { createSqlContactSource } from "../contacts/sql-contact-source.ts";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";
import { exportContacts } from "./export-contacts.ts";
import { importContacts } from "./import-contacts.ts";

const ROWS = 12_000;
/** Number of addresses of one large domain, at the end of the file. */
const LARGE = 4500;
const LARGE_DOMAIN = "large.example";

const IMPORT = `
  import { createReadStream } from "node:fs";
  import { importContacts, openDatabase } from "@outrigger/sql";
  const [url, file] = process.argv.slice(-2);
  const database = openDatabase({ url, timeoutMs: 20000 });
  await importContacts(database, createReadStream(file), {
    format: "csv",
    onProgress: ({ lines }) => process.stdout.write(lines + "\\n"),
  });
  await database.close();
`;

let directory: string;
let file: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-kill-"));
  file = join(directory, "contacts.csv");
  const large = Array.from(
    { length: LARGE },
    (_, index) => `m${(index * 7919) % LARGE}@${LARGE_DOMAIN},,,,,,,,,`,
  );
  await writeFile(file, `${personFile(ROWS)}${large.join("\n")}\n`);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

onEachDatabase(importTests, partOf(["sqlite", "postgres"], ["sqlite"]));

function importTests({ createUrl, open }: TestDatabases): void {
  test("a killed import keeps all batches it reported, answers stay correct, and the next import completes it", async () => {
    const [url, cleanUrl] = [await createUrl(), await createUrl()];
    // Between batches, and during the refresh after the last batch.
    for (const untilLines of partOf([4000, 5000, ROWS, ROWS + LARGE], [5000, ROWS + LARGE])) {
      const told = await killAfter(url, untilLines);
      const database = open(url);
      await checkAnswers(database, told);
      await database.close();
    }
    const [database, clean] = [open(url), open(cleanUrl)];
    const again = await runScript(IMPORT, [url, file]).output;
    expect(again.trim().split("\n").at(-1)).toBe(String(ROWS + LARGE));
    await runScript(IMPORT, [cleanUrl, file]).output;
    expect(await summaries(database)).toEqual(await summaries(clean));
    const [a, b] = await Promise.all(
      [database, clean].map((each) => textOf(exportContacts(each, { format: "csv" }))),
    );
    expect(a === b).toBe(true);
    await checkAnswers(database, ROWS + LARGE);
  });

  test("refreshContacts rebuilds the summaries that a killed import left stale", async () => {
    const url = await createUrl();
    await killAfter(url, 5000);
    const database = open(url);
    expect(await refreshContacts(database)).toBeGreaterThanOrEqual(250);
    expect(await refreshContacts(database)).toBe(0);
    const driver = useDatabase(database);
    const stale = await driver.first<{ count: number }>(
      "SELECT count(*) AS count FROM lookup_domains WHERE stale = 1",
    );
    expect(stale?.count).toBe(0);
    await checkAnswers(database, 5000);
  });

  test("two concurrent imports of one file store every address", async () => {
    const url = await createUrl();
    await Promise.all([runScript(IMPORT, [url, file]).output, runScript(IMPORT, [url, file]).output]);
    const database = open(url);
    expect(await refreshContacts(database)).toBe(0);
    await checkAnswers(database, ROWS + LARGE);
  });

  test("reads and charges succeed during an import", async () => {
    const url = await createUrl();
    const database = open(url);
    await importContacts(database, fileOf(`${HEADER}\n${personLine(0)}\n`), { format: "csv" });
    const source = createSqlContactSource(database);
    const { child, output } = runScript(IMPORT, [url, file]);
    let answers = 0;
    while (child.exitCode === null) {
      expect((await source.search(domainOf(0), {}, { limit: 1, offset: 0 })).total).toBeGreaterThanOrEqual(1);
      await source.erase(`absent@${domainOf(0)}`);
      answers++;
      // Calls to an embedded database resolve without the event loop: let it see that the child has ended.
      await breathe();
    }
    await output;
    expect(answers).toBeGreaterThan(2);
    await checkAnswers(database, ROWS + LARGE);
  });
}

/** Kills an import once it reported `untilLines` lines, or lets it end. @returns the lines reported. */
async function killAfter(url: string, untilLines: number): Promise<number> {
  const { child, output } = runScript(IMPORT, [url, file]);
  if (child.stdout === null) throw new Error("The process has no output.");
  let told = 0;
  for await (const line of createInterface(child.stdout)) {
    told = Number(line);
    if (told >= untilLines && !child.killed) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  await output.catch(() => undefined); // It fails if it was killed.
  return told;
}

/** Checks that all reported lines are in the database and that totals and pages are consistent. */
async function checkAnswers(database: SqlDatabase, told: number): Promise<void> {
  const source = createSqlContactSource(database);
  for (const index of [0, 777, Math.min(told, ROWS) - 1]) {
    expect(await source.find(personLine(index).split(",")[0] ?? ""), `line ${index}`).not.toBeNull();
  }
  const domains = [
    domainOf(0),
    domainOf(3999),
    domainOf(Math.min(told, ROWS) - 1),
    domainOf(told),
    LARGE_DOMAIN,
  ];
  for (const domain of domains) {
    const { total } = await source.count(domain);
    for (const filter of [{}, { type: "personal" as const }]) {
      const seen = new Set<string>();
      const expected = (await source.search(domain, filter, { limit: 1, offset: 0 })).total;
      for (let offset = 0; ; offset += 100) {
        const { contacts } = await source.search(domain, filter, { limit: 100, offset });
        if (contacts.length === 0) break;
        for (const { address } of contacts) seen.add(address);
      }
      expect(seen.size, domain).toBe(expected);
      if (!("type" in filter)) expect(expected).toBe(total);
    }
  }
}

/** All summaries: domains and marks. */
async function summaries(database: SqlDatabase): Promise<unknown> {
  const driver = useDatabase(database);
  const domains = await driver.all<{ name: string; facets: string }>(
    "SELECT name, organization, total, facets, patterns, stale FROM lookup_domains ORDER BY name",
  );
  const marks = await driver.all(
    `SELECT d.name, m.position, m.doubt, m.address FROM lookup_marks m JOIN lookup_domains d ON d.id = m.domain_id
     ORDER BY d.name, m.position`,
  );
  return { domains: domains.map(({ facets, ...rest }) => ({ ...rest, facets: JSON.parse(facets) })), marks };
}
