import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { createSqlContactSource, type SqlDatabase } from "@outrigger/sql";
import { expect, test } from "vitest";
import { afterEachTest } from "../../../../test/support/hooks.ts";
import { listen } from "../../../../test/support/listen.ts";
import { onEachLookup } from "../../test/each-lookup.ts";
import { createIndexSite, DOMAIN, pageOf, type SitePage } from "../../test/index-site.ts";

const NOW = { now: true };
const refuse: SitePage = (_req, res) => res.writeHead(403).end();
const ADA = pageOf(["Ada Lovelace"]);

const closing: (() => Promise<unknown>)[] = [];
afterEachTest(async () => {
  for (const close of closing.splice(0)) await close();
});

async function hasAda(database: SqlDatabase): Promise<boolean> {
  return (await createSqlContactSource(database).find(`ada.lovelace@${DOMAIN}`)) !== null;
}

onEachLookup((create) => {
  test("pages that refuse come last in the next run, and after five failures once a month", async () => {
    const { database } = await create();
    const site = await createIndexSite({
      ...{ "/": pageOf([], ["/team/a", "/team/b", "/team/c", "/d"]), "/d": ADA },
      ...{ "/team/a": refuse, "/team/b": refuse, "/team/c": refuse },
    });
    expect(await site.index(database)).toMatchObject({ read: 1, pages: 1, stopped: expect.any(String) });
    site.requests();
    expect(await site.index(database)).toMatchObject({ read: 1, pages: 2 });
    expect(site.requests()).toEqual([
      ...["404 /robots.txt", "200 /d", "403 /team/a", "403 /team/b", "403 /team/c"],
    ]);
    for (let run = 3; run <= 5; run++) await site.index(database);
    site.requests();
    expect(await site.index(database)).toMatchObject({ notes: {}, stopped: null });
    site.pages.set("/team/a", pageOf([]));
    expect(await site.index(database, {}, NOW)).toMatchObject({ read: 1, pages: 3 });
  });

  test("pages that fail or that robots.txt forbids take no page's place", async () => {
    const { database } = await create();
    const links = ["/team/1", "/team/2", "/team/3", "/a", "/b"];
    const site = await createIndexSite({
      "/robots.txt": "User-agent: *\nDisallow: /team/1\nDisallow: /team/2\nDisallow: /sitemap",
      ...{ "/": pageOf([], links), "/team/3": refuse, "/a": pageOf([]), "/b": ADA },
    });
    expect(await site.index(database, { maxPages: 4 })).toMatchObject({ read: 3, disallowed: 3 });
    expect(await hasAda(database)).toBe(true);
  });

  test("a page that failed leaves its place to another one in the next run", async () => {
    const { database } = await create();
    const site = await createIndexSite({ "/": pageOf([], ["/team", "/b"]), "/team": refuse, "/b": ADA });
    site.pages.set("/b", (_req, res) => res.writeHead(500).end());
    await site.index(database, { maxPages: 3 });
    site.pages.set("/c", ADA);
    site.pages.set("/", pageOf([], ["/c"]));
    expect(await site.index(database, { maxPages: 3 }, NOW)).toMatchObject({ added: 1 });
  });

  test("a larger maxPages finds the pages that a smaller one dropped, although no page changed", async () => {
    const { database } = await create();
    const links = ["/a", "/b", "/c"];
    const site = await createIndexSite({
      ...{ "/": pageOf([], links), "/a": pageOf([]), "/b": pageOf([]), "/c": ADA },
    });
    await site.index(database, { maxPages: 3 });
    expect(await hasAda(database)).toBe(false);
    expect(await site.index(database, { maxPages: 4 })).toMatchObject({ added: 1, pages: 4 });
    site.requests();
    await site.index(database, { maxPages: 4 }, NOW);
    expect(site.requests().filter((request) => request.startsWith("200"))).toEqual([]);
  });

  test("a page whose X-Robots-Tag no longer forbids to store or to follow is read, although it did not change", async () => {
    const { database } = await create();
    let tag = "noindex, nofollow";
    const tagged = (html: string): SitePage => {
      return (req, res) => {
        res.setHeader("ETag", '"1"');
        if (tag !== "") res.setHeader("X-Robots-Tag", tag);
        if (req.headers["if-none-match"] === '"1"') return void res.writeHead(304).end();
        res.writeHead(200, { "Content-Type": "text/html" }).end(html);
      };
    };
    const site = await createIndexSite({
      "/": tagged(pageOf(["Alan Turing"], ["/team"])),
      "/team": tagged(ADA),
    });
    expect(await site.index(database)).toMatchObject({ added: 0, disallowed: 1 });
    tag = "nofollow";
    expect(await site.index(database, {}, NOW)).toMatchObject({ added: 1 });
    tag = "";
    expect(await site.index(database, {}, NOW)).toMatchObject({ added: 1 });
    tag = "noindex";
    expect(await site.index(database, {}, NOW)).toMatchObject({ gone: 2, disallowed: 2 });
    tag = "";
    expect(await site.index(database, {}, NOW)).toMatchObject({ read: 2, updated: 2 });
  });

  test("URLs longer than 1024 characters are not stored: of a redirect, a canonical link, a sitemap, a link", async () => {
    const { database } = await create();
    const long = randomBytes(2000).toString("hex");
    const site = await createIndexSite({
      "/robots.txt": `Sitemap: /s.xml?${long}\nSitemap: /s.xml`,
      "/s.xml": `<?xml version="1.0"?><urlset><url><loc>http://${DOMAIN}/?${long}</loc></url></urlset>`,
      "/": pageOf(
        ["Grace Hopper"],
        ["/login", "/a", `/?${long}`],
        `<link rel="canonical" href="/x?${long}">`,
      ),
      "/login": (_req, res) => res.writeHead(302, { Location: `/saml?SAMLRequest=${long}` }).end(),
      "/a": ADA,
    });
    for (const [added, read] of [
      [2, 2],
      [0, 0],
    ]) {
      expect(await site.index(database, {}, NOW)).toMatchObject({
        ...{ added, read },
        notes: { "a redirect to a URL longer than 1024 characters": 1 },
      });
    }
    const grace = await createSqlContactSource(database).find(`grace.hopper@${DOMAIN}`);
    expect(grace?.evidence[0]?.uri).toBe(`${site.origin}/`);
    expect(site.requests().filter((request) => request.length > 100)).toEqual([]);
  });

  test("a busy host of the domain is left for the next run, and the pages of other hosts are read", async () => {
    const { database } = await create();
    const server = createServer((req, res) => {
      if (req.url === "/robots.txt") return void res.writeHead(404).end();
      res.writeHead(503, { "Retry-After": "3600" }).end();
    });
    const { port, close } = await listen(server);
    closing.push(close);
    const blog = `blog.${DOMAIN}:${port}`;
    const links = [`http://${blog}/team`, `http://${blog}/staff`, `http://${blog}/people`, "/d"];
    const site = await createIndexSite({ "/": pageOf([], links), "/d": ADA });
    const account = await site.index(database, { internalHosts: [site.host, blog] });
    expect(account).toMatchObject({ read: 2, added: 1 });
    expect(account.stopped).toMatch(`${blog} asks to wait for`);
  });
});
