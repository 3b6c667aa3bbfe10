import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { partOf } from "../../../../test/support/soak.ts";
import { onEachLookup, type TestLookup } from "../../test/each-lookup.ts";
import { createIndexSite, DOMAIN, type IndexSite, pageOf, SECRET } from "../../test/index-site.ts";

const PAGES = Array.from({ length: 24 }, (_, index) => `/team/${index}`);
const INDEX = `
  import { createPageIndex } from "@outrigger/page-index";
  import { openDatabase } from "@outrigger/sql";
  const [url, host, perHostMs] = process.argv.slice(-3);
  const database = openDatabase({ url, timeoutMs: 20000 });
  const index = createPageIndex(database, {
    contact: "https://robot.example/", secret: ${JSON.stringify(SECRET)}, internalHosts: [host], perHostMs: Number(perHostMs),
  });
  process.stdout.write(JSON.stringify(await index.index([${JSON.stringify(DOMAIN)}])) + "\\n");
  await database.close();
`;

function startIndex({ url }: TestLookup, { host }: IndexSite, perHostMs: number): ChildProcess {
  return spawn(
    process.execPath,
    ["--input-type=module", "--eval", INDEX, "--", url, host, String(perHostMs)],
    {
      cwd: import.meta.dirname,
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
}

function largeSite(): Promise<IndexSite> {
  const pages = PAGES.map((path, index) => [
    path,
    pageOf([`Person ${"abcdefghijklmnopqrstuvwxyz"[index]}x`]),
  ]);
  return createIndexSite({
    "/robots.txt": "User-agent: *\nDisallow: /sitemap.xml",
    "/": pageOf([], PAGES),
    ...Object.fromEntries(pages),
  });
}

const readPages = (requests: readonly string[]) =>
  requests.filter((request) => request.startsWith("200 /team"));

onEachLookup(crawlTests, partOf(["sqlite", "postgres"], ["sqlite"]));

function crawlTests(create: () => Promise<TestLookup>): void {
  test("a killed run loses no page, and the next one requests none again but the page under way", async () => {
    const [lookup, site] = [await create(), await largeSite()];
    const all: string[] = [];
    for (const _ of [1, 2]) {
      const child = startIndex(lookup, site, 100);
      const from = site.timesMs.length;
      while (site.timesMs.length < from + 7) await new Promise((resolve) => setTimeout(resolve, 5));
      child.kill("SIGKILL");
      await once(child, "close");
      all.push(...site.requests());
    }
    const last = startIndex(lookup, site, 0);
    expect((await once(last, "close"))[0]).toBe(0);
    all.push(...site.requests());
    const counts = new Map<string, number>();
    for (const request of readPages(all)) counts.set(request, (counts.get(request) ?? 0) + 1);
    expect([...counts.keys()].sort()).toEqual(PAGES.map((path) => `200 ${path}`).sort());
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(PAGES.length + 2);
    const [row] = await lookup.query("SELECT count(*) AS count FROM lookup_contacts");
    expect(Number(row?.count)).toBe(PAGES.length);
    expect(await lookup.query("SELECT * FROM lookup_pages WHERE is_leased = 1")).toEqual([]);
  });

  test("two processes share a domain: each page is requested once, one request at a time", async () => {
    const [lookup, site] = [await create(), await largeSite()];
    await lookup.database.ready();
    const children = [startIndex(lookup, site, 50), startIndex(lookup, site, 50)];
    const codes = await Promise.all(children.map(async (child) => (await once(child, "close"))[0]));
    expect(codes).toEqual([0, 0]);
    expect(readPages(site.requests()).sort()).toEqual(PAGES.map((path) => `200 ${path}`).sort());
    expect(site.most()).toBe(1);
  });
}
