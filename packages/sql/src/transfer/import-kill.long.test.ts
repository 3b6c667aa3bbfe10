import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setImmediate as breathe } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runScript } from "../../test/child-process.ts";
import { onEachDatabase } from "../../test/each-database.ts";
import { domainOf, fileOf, HEADER, personFile, personLine, textOf } from "../../test/sample-files.ts";
import { refreshContacts } from "../contacts/refresh-contacts.ts";
import { createSqlContactSource } from "../contacts/sql-contact-source.ts";
import { readyDriver, type SqlDatabase } from "../sql-database.ts";
import { exportContacts } from "./export-contacts.ts";
import { importContacts } from "./import-contacts.ts";

const ROWS = 20_000;
/** Addresses of one domain, which are after all others in the file. */
const LARGE = 9000;
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

onEachDatabase(({ createUrl, open }) => {
  test("an import that is killed loses nothing it told of, leaves right answers, and is made good by the next", {
    timeout: 180_000,
  }, async () => {
    const [url, cleanUrl] = [await createUrl(), await createUrl()];
    // In the middle of batches, and of what comes after the last of them.
    for (const untilLines of [4000, 12_000, ROWS, ROWS + LARGE]) {
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

  test("what a killed import has left can be brought up to date without another", {
    timeout: 120_000,
  }, async () => {
    const url = await createUrl();
    await killAfter(url, 12_000);
    const database = open(url);
    expect(await refreshContacts(database)).toBeGreaterThanOrEqual(600);
    expect(await refreshContacts(database)).toBe(0);
    const driver = await readyDriver(database);
    const stale = await driver.first<{ count: number }>(
      "SELECT count(*) AS count FROM lookup_domains WHERE stale = 1",
    );
    expect(stale?.count).toBe(0);
    await checkAnswers(database, 12_000);
  });

  test("two imports at once take in everything", { timeout: 120_000 }, async () => {
    const url = await createUrl();
    await Promise.all([runScript(IMPORT, [url, file]).output, runScript(IMPORT, [url, file]).output]);
    const database = open(url);
    expect(await refreshContacts(database)).toBe(0);
    await checkAnswers(database, ROWS + LARGE);
  });

  test("reads and charges go on during an import", { timeout: 120_000 }, async () => {
    const url = await createUrl();
    const database = open(url);
    await importContacts(database, fileOf(`${HEADER}\n${personLine(0)}\n`), { format: "csv" });
    const source = createSqlContactSource(database);
    const { child, output } = runScript(IMPORT, [url, file]);
    let answers = 0;
    while (child.exitCode === null) {
      expect((await source.search(domainOf(0), {}, { limit: 1, offset: 0 })).total).toBeGreaterThanOrEqual(1);
      await source.erase(`nobody@${domainOf(0)}`);
      answers++;
      // An embedded database answers before anything else has its turn, the news that the child has ended too.
      await breathe();
    }
    await output;
    expect(answers).toBeGreaterThan(2);
    await checkAnswers(database, ROWS + LARGE);
  });
});

/** Kills an import when it has told of so many lines, or lets it end. @returns of how many it told. */
async function killAfter(url: string, untilLines: number): Promise<number> {
  const { child, output } = runScript(IMPORT, [url, file]);
  if (child.stdout === null) throw new Error("The process has no output.");
  let told = 0;
  for await (const line of createInterface(child.stdout)) {
    told = Number(line);
    if (told >= untilLines && !child.killed) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  await output.catch(() => undefined); // That it was killed is known.
  return told;
}

/** All lines up to one that was told of are there, and numbers fit together. */
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

/** Everything that is kept beside the contacts themselves. */
async function summaries(database: SqlDatabase): Promise<unknown> {
  const driver = await readyDriver(database);
  const domains = await driver.all<{ name: string; facets: string }>(
    "SELECT name, organization, total, facets, patterns, stale FROM lookup_domains ORDER BY name",
  );
  const marks = await driver.all(
    `SELECT d.name, m.position, m.doubt, m.address FROM lookup_marks m JOIN lookup_domains d ON d.id = m.domain_id
     ORDER BY d.name, m.position`,
  );
  return { domains: domains.map(({ facets, ...rest }) => ({ ...rest, facets: JSON.parse(facets) })), marks };
}
