import { createSqlContactSource } from "@outrigger/sql";
import { describe, expect, test } from "vitest";
import { createIndexSite, DOMAIN, pageOf, type SitePage } from "../../test/index-site.ts";
import { newDatabase } from "../../test/new-database.ts";

const HOME = pageOf(["Ada Lovelace"], ["/team", "/private/staff", "/about"]);

describe("robots.txt", () => {
  test.each<[string, SitePage, string[]]>([
    [
      "of this robot",
      "User-agent: Outrigger/2\nDisallow: /team\n\nUser-agent: *\nDisallow: /",
      ["/", "/about", "/private/staff"],
    ],
    [
      "of all robots",
      "user-agent: *\ndisallow: /private/\nallow: /private/staff$",
      ["/", "/about", "/private/staff", "/team"],
    ],
    [
      "with an Allow as long as a Disallow",
      "User-agent: *\nDisallow: /team\nAllow: /team\nDisallow: /*/st",
      ["/", "/about", "/team"],
    ],
    [
      "with a byte order mark and a lone CR",
      "\ufeffUser-agent: *\rDisallow: /about\r",
      ["/", "/private/staff", "/team"],
    ],
    [
      "that redirects",
      (_req, res) => res.writeHead(301, { Location: "/moved.txt" }).end(),
      ["/", "/about", "/private/staff"],
    ],
    ["that answers 404", (_req, res) => res.writeHead(404).end(), ["/", "/about", "/private/staff", "/team"]],
    ["that answers 403", (_req, res) => res.writeHead(403).end(), ["/", "/about", "/private/staff", "/team"]],
    ["that answers 503", (_req, res) => res.writeHead(503).end(), []],
    ["that answers 429", (_req, res) => res.writeHead(429).end(), []],
    ["that closes the connection", (_req, res) => res.destroy(), []],
    ["that redirects for ever", (_req, res) => res.writeHead(302, { Location: "/robots.txt" }).end(), []],
  ])("a robots.txt %s is obeyed: no forbidden page is requested", async (_what, robots, permitted) => {
    const site = await createIndexSite({
      ...{ "/robots.txt": robots, "/moved.txt": "User-agent: *\nDisallow: /team\nDisallow: /sitemap.xml" },
      ...{ "/": HOME, "/team": pageOf([]), "/private/staff": pageOf([]), "/about": pageOf([]) },
    });
    await site.index(await newDatabase());
    const asked = site.requests().map((request) => request.slice(4));
    expect(asked.filter((path) => !/\.(?:txt|xml)$/.test(path)).sort()).toEqual(permitted);
  });

  test("a redirect to a forbidden page is not followed", async () => {
    const site = await createIndexSite({
      ...{ "/robots.txt": "User-agent: *\nDisallow: /private", "/": pageOf([], ["/team"]) },
      ...{
        "/team": (_req, res) => res.writeHead(302, { Location: "/private/team" }).end(),
        "/private/team": HOME,
      },
    });
    expect(await site.index(await newDatabase())).toMatchObject({ read: 1, disallowed: 1, added: 0 });
    expect(site.requests()).not.toContain("200 /private/team");
  });
});

describe("noindex", () => {
  test.each<[string, SitePage]>([
    [
      "X-Robots-Tag",
      (_req, res) => res.writeHead(200, { "Content-Type": "text/html", "X-Robots-Tag": "noindex" }).end(HOME),
    ],
    [
      "X-Robots-Tag for this robot",
      (_req, res) =>
        res
          .writeHead(200, {
            "Content-Type": "text/html",
            "X-Robots-Tag": ["otherbot: all", "Outrigger: none"],
          })
          .end(HOME),
    ],
    ["meta robots", HOME.replace("<head>", '<head><meta name="robots" content="NoArchive">')],
  ])("a page with %s is no longer a source of its people", async (_what, page) => {
    const database = await newDatabase();
    const site = await createIndexSite({ "/": HOME });
    await site.index(database);
    site.pages.set("/", page);
    expect(await site.index(database, {}, { now: true })).toMatchObject({ gone: 1, disallowed: 1 });
  });

  test("X-Robots-Tag for another robot does not count, and nofollow keeps from following links", async () => {
    const database = await newDatabase();
    const headers = { "Content-Type": "text/html", "X-Robots-Tag": ["otherbot: noindex", "nofollow"] };
    const site = await createIndexSite({
      "/": (_req, res) => res.writeHead(200, headers).end(HOME),
      "/team": HOME,
    });
    expect(await site.index(database)).toMatchObject({ read: 1, added: 1, disallowed: 0 });
    expect(site.requests()).not.toContain("200 /team");
  });
});

describe("redirects", () => {
  test.each([
    ["for ever", "/team", "more than 5 redirects"],
    ["to another domain", "http://other.example/", "a redirect to other.example, another domain"],
    ["to this machine", "http://127.0.0.1/", "a redirect to 127.0.0.1, another domain"],
    ["to the clouds' metadata", "http://169.254.169.254/latest/", "another domain"],
    ["to another port", `http://${DOMAIN}:22/`, "have one of the ports"],
    ["to a file", "file:///etc/passwd", "http or https"],
    ["with a password", "http://ada:secret@127.0.0.1/", "no user name"],
  ])("a redirect %s is not followed", async (_what, location, reason) => {
    const site = await createIndexSite({
      "/": pageOf(["Ada Lovelace"], ["/team"]),
      "/team": (_req, res) => res.writeHead(302, { Location: location }).end(),
    });
    const account = await site.index(await newDatabase());
    expect(account).toMatchObject({ read: 1, added: 1 });
    expect(Object.keys(account.notes)).toEqual([expect.stringContaining(reason)]);
  });
});

describe("politeness", () => {
  test("a host gets one request at a time, perHostMs apart, in all runs on a database together", async () => {
    const database = await newDatabase();
    const links = ["/a", "/b", "/c", "/d"];
    const slow: SitePage = (_req, res) => {
      setTimeout(() => res.writeHead(200, { "Content-Type": "text/html" }).end(HOME), 60);
    };
    const site = await createIndexSite({
      "/": pageOf([], links),
      ...Object.fromEntries(links.map((link) => [link, slow])),
    });
    await Promise.all([1, 2, 3].map(() => site.index(database, { perHostMs: 40 })));
    expect(site.most()).toBe(1);
    const gaps = site.timesMs.slice(1).map((ms, index) => ms - (site.timesMs[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(38);
    const pages = site.requests().filter((request) => links.includes(request.slice(4)));
    expect(pages.sort()).toEqual(links.map((link) => `200 ${link}`));
  });

  test("a Crawl-delay longer than perHostMs counts", async () => {
    const site = await createIndexSite({
      "/robots.txt": "User-agent: *\nCrawl-delay: 0.3\nDisallow: /sitemap.xml",
      "/": pageOf([], ["/a"]),
      "/a": HOME,
    });
    await site.index(await newDatabase());
    const [, home = 0, page = 0] = site.timesMs;
    expect(page - home).toBeGreaterThanOrEqual(295);
  });

  test("requests name the robot and its page, and carry no cookies and no fragment", async () => {
    const seen: unknown[] = [];
    const site = await createIndexSite({
      "/": (req, res) => {
        seen.push(req.headers);
        res
          .writeHead(200, { "Content-Type": "text/html", "Set-Cookie": "a=b" })
          .end(pageOf([], ["/team#ada", "/team?utm_source=x"]));
      },
      "/team": (req, res) => {
        seen.push(req.headers);
        res.writeHead(200, { "Content-Type": "text/html" }).end(HOME);
      },
    });
    await site.index(await newDatabase());
    const expected = {
      host: site.host,
      "user-agent": expect.stringMatching(/^Outrigger\/[\d.]+ \(\+https:\/\/robot\.example\/\)$/),
    };
    expect(seen).toEqual([expect.objectContaining(expected), expect.objectContaining(expected)]);
    expect(seen.some((headers) => Object.hasOwn(headers as object, "cookie"))).toBe(false);
  });
});

describe("spellings", () => {
  test("several spellings of a page are one source", async () => {
    const database = await newDatabase();
    const canonical = '<link rel="canonical" href="/team">';
    const site = await createIndexSite({
      "/": pageOf([], ["/team/", "/team", "/team?lang=de", "/old-team"]),
      "/team/": pageOf(["Ada Lovelace"], [], canonical),
      "/team?lang=de": pageOf(["Ada Lovelace"], [], canonical),
      "/old-team": (_req, res) => res.writeHead(301, { Location: "/team/" }).end(),
    });
    await site.index(database);
    const contact = await createSqlContactSource(database).find(`ada.lovelace@${DOMAIN}`);
    expect(contact?.evidence.map(({ uri }) => uri)).toEqual([`${site.origin}/team`]);
    expect(await site.index(database, {}, { now: true })).toMatchObject({ gone: 0, added: 0 });
  });
});

test("an aborted run rejects with the reason, and the next one continues it", async () => {
  const database = await newDatabase();
  const links = ["/a", "/b", "/c"];
  const site = await createIndexSite({
    "/": pageOf([], links),
    ...Object.fromEntries(links.map((link) => [link, HOME])),
  });
  const controller = new AbortController();
  const stop = new Error("enough");
  const onProgress = ({ read }: { read: number }) => read === 2 && controller.abort(stop);
  await expect(
    site.index(database, {}, { signal: controller.signal, onProgress: (given) => void onProgress(given) }),
  ).rejects.toBe(stop);
  await site.index(database);
  const pages = site.requests().filter((request) => /^200 \/(?:[abc]?)$/.test(request));
  expect(pages.sort()).toEqual(["200 /", "200 /a", "200 /b", "200 /c"]);
});
