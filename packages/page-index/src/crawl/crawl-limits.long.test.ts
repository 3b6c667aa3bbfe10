import { gzipSync } from "node:zlib";
import { createSqlContactSource, type SqlDatabase } from "@outrigger/sql";
import { describe, expect, test } from "vitest";
import { createIndexSite, DOMAIN, pageOf, type SitePage } from "../../test/index-site.ts";
import { newDatabase } from "../../test/new-database.ts";
import { foundPage, pageKey } from "./page-address.ts";
import { readRobots } from "./robots-rules.ts";
import { readSitemap } from "./sitemap.ts";

const HOME = pageOf(["Ada Lovelace"], ["/team", "/private/staff", "/about"]);

async function addressesIn(database: SqlDatabase): Promise<string[]> {
  const { contacts } = await createSqlContactSource(database).search(DOMAIN, {}, { limit: 100, offset: 0 });
  return contacts.map(({ address }) => address.split("@")[0] ?? "").sort();
}

describe("hostile texts", () => {
  const many = (count: number, text: string) => text.repeat(count);
  test.each<[string, () => unknown]>([
    ["a sitemap", () => sitemapPages(many(200, `<loc>${many(2000, " ")}<x`))],
    [
      "a sitemap of one entry",
      () => sitemapPages(`<loc>${many(1_000_000, " ")}<![CDATA[${many(1_000_000, " ]")}`),
    ],
    [
      "parameters",
      () => foundPage(new URL(`http://a.example/?${many(200_000, "utm_a&")}`), "", "a.example", 1),
    ],
    ["slashes", () => pageKey(new URL(`http://a.example/${many(1_000_000, "/")}a`))],
    [
      "wildcards",
      () => {
        const rules = readRobots(
          "http://a.example",
          `User-agent: *\n${many(23_000, "Disallow: /*a*a*a*a*b\n")}`,
        );
        expect(rules.allows(new URL(`http://a.example/${many(1000, "a")}`))).toBe(false);
      },
    ],
    [
      "permitted wildcards",
      () => {
        const rules = readRobots(
          "http://a.example",
          `User-agent: *\n${many(1400, "Disallow: /*a*a*a*a*b\n")}`,
        );
        expect(rules.allows(new URL(`http://a.example/${many(1000, "a")}`))).toBe(true);
      },
    ],
  ])("hostile %s take a bounded CPU time", async (_what, read) => {
    const began = process.cpuUsage();
    await read();
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(20_000);
  });

  async function sitemapPages(text: string): Promise<void> {
    for await (const pages of readSitemap(Buffer.from(text), "a.example", 0)) expect(pages).toEqual([]);
  }
});

describe("bounds", () => {
  test("of a page of 3 MiB the first 2 MiB are read, also of a small one that decompresses to 200 MiB", async () => {
    const database = await newDatabase();
    const long = `<html><body>${pageOf(["Ada Lovelace"])}${"<p>words</p>".repeat(260_000)}${pageOf(["Alan Turing"])}`;
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024, " "));
    const site = await createIndexSite({
      "/": pageOf([], ["/team", "/staff"]),
      "/team": long,
      "/staff": (_req, res) =>
        res.writeHead(200, { "Content-Type": "text/html", "Content-Encoding": "gzip" }).end(bomb),
    });
    expect(await site.index(database)).toMatchObject({ read: 3, cut: 2, added: 1 });
    expect(await addressesIn(database)).toEqual(["ada.lovelace"]);
  });

  test("a sitemap of 50,000 entries adds pages of the domain only, telling ones first, up to maxPages", async () => {
    const urls = Array.from({ length: 49_990 }, (_, index) => `http://HOST/product/${index}`);
    urls.push(
      "http://HOST/kontakt?a=1&amp;b=2",
      "http://other.example/team",
      "<![CDATA[http://HOST/equipe]]>",
    );
    const body = (host: string) =>
      gzipSync(
        `<?xml version="1.0"?><urlset>${urls.map((url) => `<url><loc> ${url.replace("HOST", host)} </loc></url>`).join("\n")}</urlset>`,
      );
    const index = (host: string) =>
      `<?xml version="1.0"?><sitemapindex><sitemap><loc>http://${host}/all.xml.gz</loc></sitemap></sitemapindex>`;
    const site = await createIndexSite({ "/": pageOf([]), "/kontakt?a=1&b=2": pageOf(["Ada Lovelace"]) });
    site.pages.set("/robots.txt", `Sitemap: ${site.origin}/map.xml`);
    site.pages.set("/map.xml", index(site.host));
    site.pages.set("/all.xml.gz", (_req, res) =>
      res.writeHead(200, { "Content-Type": "application/gzip" }).end(body(site.host)),
    );
    expect(await site.index(await newDatabase(), { maxPages: 5 })).toMatchObject({ added: 1, read: 2 });
    expect(site.requests()).toEqual([
      ...[
        "200 /robots.txt",
        "200 /",
        "200 /map.xml",
        "200 /all.xml.gz",
        "200 /kontakt?a=1&b=2",
        "404 /equipe",
      ],
      ...["404 /product/0", "404 /product/1"],
    ]);
  });

  test("pages that robots.txt forbids do not count towards maxPages", async () => {
    const links = Array.from({ length: 6 }, (_, page) => `/private/team/${page}`);
    const site = await createIndexSite({
      ...{ "/robots.txt": "User-agent: *\nDisallow: /private/", "/": pageOf([], [...links, "/about"]) },
      "/about": HOME,
    });
    const account = await site.index(await newDatabase(), { maxPages: 2 });
    expect(account).toMatchObject({ read: 2, disallowed: 6, added: 1 });
  });

  test("links are followed to a depth of 2", async () => {
    const site = await createIndexSite({
      ...{ "/": pageOf([], ["/a"]), "/a": pageOf([], ["/b"]), "/b": pageOf([], ["/c"]), "/c": HOME },
    });
    expect(await site.index(await newDatabase())).toMatchObject({ read: 3 });
  });

  test("three refusals one after another end the run, and Retry-After keeps the next one away", async () => {
    const database = await newDatabase();
    const refuse: SitePage = (_req, res) => res.writeHead(403).end();
    const links = ["/a", "/b", "/c", "/d", "/e"];
    const site = await createIndexSite({
      "/": pageOf([], links),
      ...Object.fromEntries(links.map((link) => [link, refuse])),
    });
    expect((await site.index(database)).stopped).toBe(
      "3 refusals one after another, the last with status 403",
    );
    expect(site.requests().filter((request) => request.startsWith("403"))).toHaveLength(3);
    site.pages.set("/d", (_req, res) => res.writeHead(503, { "Retry-After": "3600" }).end());
    expect((await site.index(database)).stopped).toMatch(/asks to wait for 3[56]\d\d seconds/);
    site.requests();
    expect((await site.index(database, {}, { now: true })).stopped).toMatch(/asks to wait/);
    expect(site.requests()).toEqual([]);
  });
});
