import { PageFrontier } from "@outrigger/sql";
import { expect, test } from "vitest";
import { onEachLookup } from "../../test/each-lookup.ts";
import { createIndexSite, DOMAIN, pageOf } from "../../test/index-site.ts";

const COUNT = 100_000;

onEachLookup((create, kind) => {
  test("a frontier of 100,000 pages is taken by index, in its order, with little memory", async () => {
    const { database, query } = await create();
    const frontier = new PageFrontier(database);
    await frontier.begin(DOMAIN, [], { isNow: false, maxPages: COUNT });
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    for (let start = 0; start < COUNT; start += 500) {
      const pages = Array.from({ length: 500 }, (_, index) => {
        const path = `/page/${start + index}`;
        return {
          key: DOMAIN + path,
          url: `http://${DOMAIN}${path}`,
          isSitemap: false,
          depth: 1,
          rank: start === 99_500 ? 2 : 3,
        };
      });
      await frontier.add(DOMAIN, pages);
    }
    if (kind === "postgres") await query("ANALYZE");
    const taken = [];
    for (let page = 0; page < 1000; page++) taken.push(await frontier.take(DOMAIN, COUNT, Date.now()));
    expect(taken.slice(0, 500).every((page) => typeof page === "object" && page?.rank === 2)).toBe(true);
    expect(new Set(taken.map((page) => (typeof page === "object" ? page?.seq : null))).size).toBe(1000);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1024 * 1024);
    const explain = kind === "postgres" ? "EXPLAIN" : "EXPLAIN QUERY PLAN";
    for (const [text, index] of [
      [
        "SELECT * FROM lookup_pages WHERE domain = 'acme.localhost' AND due_at <= 99 ORDER BY due_at, seq LIMIT 1",
        "lookup_pages_due",
      ],
      [
        "SELECT due_at FROM lookup_pages WHERE domain = 'acme.localhost' AND is_leased = 1 ORDER BY due_at LIMIT 1",
        "lookup_pages_leased",
      ],
      [
        "SELECT 1 FROM lookup_pages WHERE domain = 'acme.localhost' AND page_key = 'a' AND seq <> 1",
        "lookup_pages_key",
      ],
    ] as const) {
      expect(JSON.stringify(await query(`${explain} ${text}`)), text).toContain(index);
    }
    // A full domain drops what it never read.
    expect(await frontier.take(DOMAIN, 1000, Date.now())).toBeTypeOf("number");
    const [row] = await query("SELECT count(*) AS count FROM lookup_pages");
    expect(Number(row?.count)).toBe(1000);
  });

  if (kind === "postgres") return;
  test("a page that trickles is cut off after 30 seconds, and the run goes on", async () => {
    const { database } = await create();
    const site = await createIndexSite({
      "/": pageOf([], ["/team", "/staff"]),
      "/staff": pageOf(["Ada Lovelace"]),
      "/team": (_req, res) => {
        res.writeHead(200, { "Content-Type": "text/html" });
        const timer = setInterval(() => res.write("<p>word</p>"), 200);
        res.on("close", () => clearInterval(timer));
      },
    });
    const account = await site.index(database);
    expect(account).toMatchObject({ read: 2, added: 1, notes: { "no complete reply within 30 seconds": 1 } });
  });
});
