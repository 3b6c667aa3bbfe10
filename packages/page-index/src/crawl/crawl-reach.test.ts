import { createServer } from "node:http";
import { deflateRawSync } from "node:zlib";
import { createSuppressions } from "@outrigger/core/lookup";
import { createSqlSuppressionList, PageFrontier } from "@outrigger/sql";
import { expect, test } from "vitest";
import { startDnsServer } from "../../../../test/support/dns-server.ts";
import { afterEachTest } from "../../../../test/support/hooks.ts";
import { listen } from "../../../../test/support/listen.ts";
import { createIndexSite, DOMAIN, pageOf, SECRET, type SitePage } from "../../test/index-site.ts";
import { newDatabase } from "../../test/new-database.ts";
import { PageFetcher } from "./page-fetcher.ts";
import { SiteRobots } from "./site-robots.ts";

const ADA = pageOf(["Ada Lovelace"]);
const request = {
  ...{ maxBytes: 1000, accept: "", etag: null, modified: null, signal: new AbortController().signal },
  ...{ mayRead: async () => true, delayMs: () => 0, hold: async () => {} },
};

const closing: (() => Promise<unknown>)[] = [];
afterEachTest(async () => {
  for (const close of closing.splice(0)) await close();
});

async function newFetcher(hosts: string[], port: number, dnsServers: string[] = []) {
  const frontier = new PageFrontier(await newDatabase());
  const policy = { ports: [port], internalHosts: hosts };
  return {
    frontier,
    fetcher: new PageFetcher({ frontier, policy, dnsServers, userAgent: "a", perHostMs: 0 }),
  };
}

test("no redirect, link or answer of the DNS leads to a private address", async () => {
  let connections = 0;
  const inside = createServer((_req, res) => res.end("inside")).on("connection", () => connections++);
  const { port, close } = await listen(inside);
  closing.push(close);
  const addresses = {
    ...{ a: ["127.0.0.1"], b: ["127.0.0.2"], c: ["127.255.255.254"], d: ["0.0.0.0"], e: ["10.0.0.1"] },
    ...{ f: ["172.16.0.1"], g: ["192.168.0.1"], h: ["169.254.169.254"], i: ["100.64.0.1"] },
    ...{ j: ["224.0.0.1"], k: ["127.0.0.1", "10.0.0.1"] },
  };
  const others = {
    l: ["::1"],
    m: ["::ffff:127.0.0.1"],
    n: ["::"],
    o: ["fe80::1"],
    p: ["fd00::1"],
    q: ["64:ff9b::7f00:1"],
  };
  const dns = await startDnsServer({
    ...Object.fromEntries(Object.entries(addresses).map(([name, A]) => [`${name}.${DOMAIN}`, { A }])),
    ...Object.fromEntries(Object.entries(others).map(([name, AAAA]) => [`${name}.${DOMAIN}`, { AAAA }])),
    [`r.${DOMAIN}`]: { CNAME: `a.${DOMAIN}` },
    // Another answer each time, for a check that is not what connects.
    [`rebind.${DOMAIN}`]: { A: ["10.0.0.1"], alternateA: ["127.0.0.1"] },
  });
  closing.push(() => dns.close());
  const names = [...Object.keys(addresses), ...Object.keys(others), "r", "rebind", "rebind", "rebind"];
  const literals = [
    ...[
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f.1",
      "0177.0.0.1",
      "[::1]",
      "[::ffff:7f00:1]",
      "[::]",
      "0",
      "localhost",
    ],
    ...["%31%32%37.0.0.1", "①②⑦.0.0.1", `a@127.0.0.1`, "127.0.0.1.", "LOCALHOST"],
  ];
  const targets = [...names.map((name) => `${name}.${DOMAIN}`), ...literals].map(
    (host) => `http://${host}:${port}/`,
  );
  const site = await createIndexSite({});
  for (const [index, location] of targets.entries()) {
    const url = new URL(location).href;
    site.pages.set(`/${index}`, (_req, res) => res.writeHead(302, { Location: url }).end());
  }
  const own = Number(new URL(site.origin).port);
  const { frontier } = await newFetcher([], port);
  const policy = { ports: [port, own], internalHosts: [site.host] };
  const fetcher = new PageFetcher({
    ...{ frontier, policy, dnsServers: [dns.address], userAgent: "a", perHostMs: 0 },
  });
  for (const [index, target] of targets.entries()) {
    await expect(fetcher.get(new URL(`${site.origin}/${index}`), request), target).rejects.toThrow();
  }
  expect(site.requests()).toHaveLength(targets.length);
  for (const host of ["0x7f.1", "[::ffff:7f00:1]", `a.${DOMAIN}`]) {
    await expect(fetcher.get(new URL(`http://${host}:${port}/`), request), host).rejects.toThrow(
      "no public address",
    );
  }
  expect(dns.questions.length).toBeGreaterThan(names.length);
  expect(connections).toBe(0);
  const open = new PageFetcher({
    frontier,
    policy: { ...policy, internalHosts: [`a.${DOMAIN}:${port}`] },
    userAgent: "a",
    perHostMs: 0,
  });
  await open.get(new URL(`http://a.${DOMAIN}:${port}/`), request);
  expect(connections).toBe(1);
});

test("robots.txt is read again after a day, and an origin that cannot be reached is asked once in a run", async () => {
  const site = await createIndexSite({ "/robots.txt": "User-agent: *\nDisallow: /a" });
  const dead = createServer().on("connection", (socket) => {
    connections++;
    socket.destroy();
  });
  let connections = 0;
  const { port, close } = await listen(dead);
  closing.push(close);
  const { frontier, fetcher } = await newFetcher(
    [site.host, `blog.${DOMAIN}:${port}`],
    Number(new URL(site.origin).port),
  );
  const robots = new SiteRobots({
    ...request,
    frontier,
    fetcher,
    isBarred: async () => new Set(),
    note: () => {},
  });
  const url = new URL("/a", site.origin);
  const now = Date.now();
  expect(await robots.allows(url, request.hold, now)).toBe(false);
  site.pages.set("/robots.txt", "User-agent: *\nDisallow: /b");
  expect(await robots.allows(url, request.hold, now + 23 * 3_600_000)).toBe(false);
  expect(await robots.allows(url, request.hold, now + 25 * 3_600_000)).toBe(true);
  expect(site.requests()).toHaveLength(2);
  for (const path of ["/a", "/b", "/c"]) {
    const { href } = new URL(path, `http://blog.${DOMAIN}:${port}`);
    await expect(robots.allows(new URL(href), request.hold)).rejects.toThrow(
      `http://blog.${DOMAIN}:${port}: `,
    );
  }
  expect(connections).toBe(1);
});

test("a robots.txt does not redirect to a suppressed subdomain", async () => {
  const database = await newDatabase();
  const suppressions = createSuppressions(createSqlSuppressionList(database), SECRET);
  await suppressions.ready();
  await suppressions.add(`blog.${DOMAIN}`);
  const blog = await createIndexSite({});
  const blogHost = `blog.${blog.host}`;
  const site = await createIndexSite({
    "/robots.txt": (_req, res) => res.writeHead(302, { Location: `http://${blogHost}/robots.txt` }).end(),
    "/": ADA,
  });
  expect(await site.index(database, { internalHosts: [site.host, blogHost] })).toMatchObject({
    read: 0,
    disallowed: 1,
  });
  expect(blog.requests()).toEqual([]);
});

test("the first page waits for the Crawl-delay of robots.txt", async () => {
  const site = await createIndexSite({
    "/robots.txt": "User-agent: *\nCrawl-delay: 0.3\nDisallow: /sitemap",
    "/": ADA,
  });
  const database = await newDatabase();
  for (const times of [2, 4]) {
    await site.index(database, {}, { now: true });
    const [robots = 0, home = 0] = site.timesMs.slice(times - 2);
    expect(site.timesMs).toHaveLength(times);
    expect(home - robots).toBeGreaterThanOrEqual(295);
  }
});

test("pages with raw deflate, with status 203 and without Content-Type are read, and a robots.txt with 204 forbids nothing", async () => {
  const html = { "Content-Type": "text/html" };
  const site = await createIndexSite({
    "/robots.txt": (_req, res) => res.writeHead(204).end(),
    "/": pageOf([], ["/a", "/b", "/c"]),
    "/a": (_req, res) =>
      res.writeHead(200, { ...html, "Content-Encoding": "deflate" }).end(deflateRawSync(ADA)),
    "/b": (_req, res) => res.writeHead(203, html).end(pageOf(["Alan Turing"])),
    "/c": (_req, res) => res.writeHead(200).end(pageOf(["Grace Hopper"])),
  });
  expect(await site.index(await newDatabase())).toMatchObject({ read: 4, added: 3, notes: {} });
});

test("of many links the telling ones are kept, each once, also by their text", async () => {
  const links = [...Array.from({ length: 600 }, (_, page) => `/p?${page}`), "/p#1", "/kontakt"];
  const home = pageOf([], links).replace("</body>", '<a href="/p?599">Über uns</a></body>');
  const site = await createIndexSite({ "/": home, "/kontakt": ADA });
  expect(await site.index(await newDatabase(), { maxPages: 4 })).toMatchObject({ added: 1 });
  expect(site.requests()).toEqual([
    ...["404 /robots.txt", "200 /", "404 /sitemap.xml", "404 /p?599", "200 /kontakt", "404 /p?0"],
  ]);
});

test("a first page that redirects and links to itself is requested once", async () => {
  const site = await createIndexSite({
    "/": (_req, res) => res.writeHead(302, { Location: "/en/" }).end(),
    "/en/": pageOf(["Ada Lovelace"], ["/en/", "/en", "/team"]),
    "/team": pageOf([], ["/en/"]),
  });
  expect(await site.index(await newDatabase())).toMatchObject({ read: 2, added: 1 });
  expect(site.requests().filter((asked) => asked === "200 /en/")).toHaveLength(1);
});

test("an internal host on a port of its own is tried with TLS, too, and its failure names the host and a URL", async () => {
  const firstBytes: number[] = [];
  const silent: SitePage = (req) => req.socket.destroy();
  const site = await createIndexSite({ "/robots.txt": silent });
  const tls = createServer().on("connection", (socket) => {
    socket.once("data", (bytes) => {
      firstBytes.push(bytes[0] ?? 0);
      socket.destroy();
    });
  });
  const { port, close } = await listen(tls);
  closing.push(close);
  const host = `${DOMAIN}:${port}`;
  const account = await site.index(await newDatabase(), { internalHosts: [host] });
  const [[reason = "", count] = []] = Object.entries(account.notes);
  expect([count, reason]).toEqual([1, expect.stringMatching(`^https://${host}: `)]);
  expect(account.examples).toEqual({ [reason]: `https://${host}/` });
  expect(firstBytes).toContain(0x16);
  expect(firstBytes).toContain("G".charCodeAt(0));
});
