import { createLookup } from "@outrigger/core";
import {
  createSqlAccounts,
  createSqlContactSource,
  createSqlSuppressionList,
  importContacts,
  type SqlDatabase,
} from "@outrigger/sql";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { onEachLookup } from "../../test/each-lookup.ts";
import { createIndexSite, DOMAIN, pageOf, SECRET } from "../../test/index-site.ts";
import { createPageIndex } from "./page-index.ts";

const ADA = `ada.lovelace@${DOMAIN}`;
const TODAY = new Date().toISOString().slice(0, 10);
const NOON = Date.parse(`${TODAY}T12:00:00Z`);

// No day ends while a test runs.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: NOON, shouldAdvanceTime: true }));
afterEach(() => void vi.useRealTimers());

onEachLookup((create) => {
  function lookupOf(database: SqlDatabase) {
    return createLookup({
      contacts: createSqlContactSource(database),
      accounts: createSqlAccounts(database),
      suppressions: createSqlSuppressionList(database),
      secret: SECRET,
    });
  }

  test("from an empty database, an index fills the lookup with people, patterns and true sources, and the next run follows the site", async () => {
    const { database } = await create();
    const site = await createIndexSite({
      "/robots.txt": "User-agent: *\nAllow: /\n",
      "/": pageOf([], ["/team", "/products/"], '<meta property="og:site_name" content="Acme GmbH">'),
      "/team": pageOf(["Ada Lovelace", "Alan Turing"], ["/"]),
      "/products/": pageOf([]),
      "/sitemap.xml": `<?xml version="1.0"?><urlset><url><loc>http://${DOMAIN}/</loc></url></urlset>`,
    });
    expect(await site.index(database)).toMatchObject({
      read: 3,
      unchanged: 0,
      added: 2,
      gone: 0,
      notes: {},
      stopped: null,
    });
    expect(site.requests()).toEqual([
      "200 /robots.txt",
      "200 /",
      "200 /sitemap.xml",
      "200 /team",
      "200 /products/",
    ]);
    const lookup = lookupOf(database);
    const found = await lookup.searchDomain({ domain: DOMAIN });
    expect(found.data).toMatchObject({ organization: "Acme GmbH" });
    expect(found.data.emails[0]).toMatchObject({
      value: ADA,
      sources: [
        {
          domain: DOMAIN,
          uri: `${site.origin}/team`,
          extracted_on: TODAY,
          last_seen_on: TODAY,
          still_on_page: true,
        },
      ],
    });
    expect((await lookup.countEmails({ domain: DOMAIN })).data.total).toBe(2);
    const { data } = await lookup.verifyEmail(ADA);
    expect(data).toMatchObject({
      email: ADA,
      sources: [{ uri: `${site.origin}/team`, still_on_page: true }],
    });

    expect(await site.index(database)).toMatchObject({ read: 0, unchanged: 0 });
    expect(site.requests()).toEqual([]);
    expect(await site.index(database, {}, { now: true })).toMatchObject({
      read: 0,
      unchanged: 4,
      updated: 0,
      gone: 0,
    });
    expect(site.requests().sort()).toEqual([
      "304 /",
      "304 /products/",
      "304 /robots.txt",
      "304 /sitemap.xml",
      "304 /team",
    ]);

    site.pages.set("/team", pageOf(["Alan Turing", "Grace Hopper"], ["/"]));
    expect(await site.index(database, {}, { now: true })).toMatchObject({ read: 1, added: 1, gone: 1 });
    const changed = (await lookup.searchDomain({ domain: DOMAIN })).data.emails;
    const still = Object.fromEntries(
      changed.map(({ value, sources }) => [value, sources.map((each) => each.still_on_page)]),
    );
    expect(still).toEqual({
      [`alan.turing@${DOMAIN}`]: [true],
      [`grace.hopper@${DOMAIN}`]: [true],
      [ADA]: [false],
    });
    expect(changed.find(({ value }) => value === ADA)?.confidence).toBeLessThan(75);
  });

  test("an erased person and a suppressed one are not stored again by the index; an import stores the erased one", async () => {
    const { database, query } = await create();
    const site = await createIndexSite({ "/": pageOf(["Ada Lovelace", "Alan Turing"]) });
    const lookup = lookupOf(database);
    await lookup.suppress(`alan.turing@${DOMAIN}`);
    expect(await site.index(database)).toMatchObject({ added: 1 });
    expect(await lookup.erase(ADA)).toBe(true);
    const rows = "SELECT address FROM lookup_page_addresses";
    expect(await query(rows)).toEqual([]);
    for (const _ of [1, 2])
      expect(await site.index(database, {}, { now: true })).toMatchObject({ added: 0, gone: 0 });
    expect(await lookup.countEmails({ domain: DOMAIN })).toMatchObject({ data: { total: 0 } });
    await importContacts(database, [Buffer.from(`email,first name\n${ADA},Ada\n`)] as never, {});
    expect(await lookup.countEmails({ domain: DOMAIN })).toMatchObject({ data: { total: 1 } });
    expect(await lookup.erase(ADA)).toBe(true);
    expect(await lookup.unsuppress(ADA)).toBe(true);
    expect(await site.index(database, {}, { now: true })).toMatchObject({ added: 1 });
  });

  test("a suppressed or erased domain is not requested", async () => {
    const { database, query } = await create();
    const site = await createIndexSite({ "/": pageOf(["Ada Lovelace"]) });
    await site.index(database);
    site.requests();
    const lookup = lookupOf(database);
    expect(await lookup.erase(DOMAIN)).toBe(true);
    const tables = ["lookup_pages", "lookup_page_addresses", "lookup_page_domains", "lookup_contacts"];
    for (const table of tables) expect(await query(`SELECT * FROM ${table}`), table).toEqual([]);
    expect(await site.index(database, {}, { now: true })).toMatchObject({
      read: 0,
      stopped: "it is suppressed or was erased",
    });
    await lookup.unsuppress(DOMAIN);
    await lookup.suppress(DOMAIN);
    expect((await site.index(database)).stopped).toBe("it is suppressed or was erased");
    expect(site.requests()).toEqual([]);
  });

  test("a page fills in what an imported contact lacks, and replaces no imported value", async () => {
    const { database } = await create();
    const file = `email,first name,last name,organization,confidence\nalan.turing@${DOMAIN},Augusta,King,Acme Ltd,42\n${ADA},,,,\n`;
    await importContacts(database, [Buffer.from(file)] as never, {});
    const head = '<meta property="og:site_name" content="Other">';
    const site = await createIndexSite({ "/": pageOf(["Ada Lovelace", "Alan Turing"], [], head) });
    expect(await site.index(database)).toMatchObject({ added: 0, updated: 2 });
    const source = createSqlContactSource(database);
    expect(await source.find(`alan.turing@${DOMAIN}`)).toMatchObject({
      firstName: "Augusta",
      lastName: "King",
      confidence: 42,
      evidence: [{}],
    });
    expect((await source.domain(DOMAIN))?.organization).toBe("Acme Ltd");
  });

  test("a page that answers 404 or 410 twice no longer shows its people; a page that robots.txt forbids keeps its dates", async () => {
    const { database } = await create();
    const site = await createIndexSite({
      "/": pageOf([], ["/team", "/staff", "/people"]),
      "/team": pageOf(["Ada Lovelace"]),
      "/staff": pageOf(["Alan Turing"]),
      "/people": pageOf(["Grace Hopper"]),
    });
    await site.index(database);
    site.pages.delete("/team");
    site.pages.set("/staff", (_req, res) => res.writeHead(410).end());
    site.pages.set("/robots.txt", "User-agent: *\nDisallow: /people");
    const still = async () => {
      const contacts = await createSqlContactSource(database).search(DOMAIN, {}, { limit: 10, offset: 0 });
      return contacts.contacts
        .map(({ address, evidence }) => [address.split(".", 1)[0], evidence[0]?.stillOnPage])
        .sort();
    };
    expect(await site.index(database, {}, { now: true })).toMatchObject({
      gone: 0,
      disallowed: 1,
      notes: { "status 404": 1, "status 410": 1 },
    });
    expect(await still()).toEqual([
      ["ada", true],
      ["alan", true],
      ["grace", true],
    ]);
    expect(await site.index(database, {}, { now: true })).toMatchObject({ gone: 2, disallowed: 1 });
    expect(await still()).toEqual([
      ["ada", false],
      ["alan", false],
      ["grace", true],
    ]);
    expect(site.requests().filter((request) => request.includes("/people"))).toEqual(["200 /people"]);
  });

  test("an unchanged page is due after 7, 14 and at most 90 days, a changed one after 7 again", async () => {
    const { database, query } = await create();
    const site = await createIndexSite({ "/": pageOf(["Ada Lovelace"]) });
    const days = async () => {
      const [row] = await query("SELECT interval_days, due_at FROM lookup_pages WHERE rank = 0");
      expect(Math.round((Number(row?.due_at) - Date.now()) / 86_400_000)).toBe(row?.interval_days);
      return row?.interval_days;
    };
    const seen = [];
    for (let visit = 0; visit < 6; visit++) {
      await site.index(database, {}, { now: true });
      seen.push(await days());
    }
    site.pages.set("/", pageOf(["Alan Turing"]));
    await site.index(database, {}, { now: true });
    expect([...seen, await days()]).toEqual([7, 14, 28, 56, 90, 90, 7]);
  });

  test("people whom no page has shown for 36 months are erased unless they were imported", async () => {
    const { database, query } = await create();
    const site = await createIndexSite({ "/": pageOf(["Ada Lovelace", "Alan Turing", "Grace Hopper"]) });
    await importContacts(database, [Buffer.from(`email\nalan.turing@${DOMAIN}\n`)] as never, {});
    await site.index(database);
    site.pages.set("/", pageOf(["Grace Hopper"]));
    await site.index(database, {}, { now: true });
    const old = new Date();
    old.setUTCFullYear(old.getUTCFullYear() - 3, old.getUTCMonth(), old.getUTCDate() - 2);
    const day = old.toISOString().slice(0, 10);
    await query("UPDATE lookup_page_addresses SET seen_on = $1 WHERE is_shown = 0", [day]);
    await query(
      "UPDATE lookup_contacts SET packed = replace(packed, $2, $1) WHERE packed NOT LIKE '%hopper%'",
      [day, TODAY],
    );
    await site.index(database);
    const source = createSqlContactSource(database);
    expect(await source.find(ADA)).toBeNull();
    expect(await source.find(`alan.turing@${DOMAIN}`)).not.toBeNull();
    expect(await source.find(`grace.hopper@${DOMAIN}`)).not.toBeNull();
  });

  test("names with control characters and broken ones are stored without them", async () => {
    const { database } = await create();
    const person = { "@type": "Person", name: "A", email: ADA, jobTitle: "C" };
    const json = JSON.stringify(person)
      .replace('"A"', '"Ada\\u0000 Love\\ud800lace"')
      .replace('"C"', '"C\\u0001TO"');
    const head = `<meta property="og:site_name" content="Acme\ud800"><script type="application/ld+json">${json}</script>`;
    const site = await createIndexSite({ "/": pageOf(["Ada Lovelace"], [], head) });
    expect(await site.index(database)).toMatchObject({ added: 1, notes: {} });
  });
});

test("createPageIndex and index name an invalid option or domain", async () => {
  const database = {} as never;
  const given = { contact: "https://robot.example/", secret: SECRET };
  expect(() => createPageIndex(database, { secret: SECRET } as never)).toThrow("contact");
  expect(() => createPageIndex(database, { ...given, contact: "a\r\nb" })).toThrow(
    "contact must be an http(s) URL",
  );
  expect(() => createPageIndex(database, { ...given, perHostMs: -1 })).toThrow("perHostMs");
  expect(() => createPageIndex(database, { ...given, isSuppressed: () => {} } as never)).toThrow(
    "isSuppressed",
  );
});
