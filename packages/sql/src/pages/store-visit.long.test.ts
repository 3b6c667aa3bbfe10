import { createLookup } from "@outrigger/core";
import { createSuppressions } from "@outrigger/core/lookup";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { onEachDatabase } from "../../test/each-database.ts";
import { fileOf } from "../../test/sample-files.ts";
import { createSqlAccounts } from "../accounts/sql-accounts.ts";
import { createSqlContactSource } from "../contacts/sql-contact-source.ts";
import { useDatabase } from "../sql-database.ts";
import { createSqlSuppressionList } from "../sql-suppression-list.ts";
import { importContacts } from "../transfer/import-contacts.ts";
import { expireContacts } from "./expire-contacts.ts";
import type { FoundPage, LeasedPage } from "./leased-page.ts";
import { PageFrontier } from "./page-frontier.ts";
import { type PageContact, type PageVisit, storeVisit } from "./store-visit.ts";

const DOMAIN = "acme.example";
const SECRET = "s".repeat(32);
const START = foundPage("", 0);

function foundPage(path: string, depth = 1): FoundPage {
  const key = `${DOMAIN}${path}`;
  return { key, url: `https://${DOMAIN}${path || "/"}`, isSitemap: false, depth, rank: depth * 2 };
}

function person(local: string, position: string | null = null): PageContact {
  const unknown = { phoneNumber: null, networkAUrl: null, networkB: null };
  return { address: `${local}@${DOMAIN}`, firstName: local, lastName: "Byte", position, ...unknown };
}

function read(contacts: readonly PageContact[], { key, url }: FoundPage = START): PageVisit {
  const digest = JSON.stringify(contacts);
  return { kind: "read", uri: url, key, organization: "Acme", contacts, etag: null, modified: null, digest };
}

onEachDatabase(({ createUrl, open, kind }) => {
  async function pages() {
    const url = await createUrl();
    const database = open(url);
    const list = createSqlSuppressionList(database);
    const lookup = createLookup({
      contacts: createSqlContactSource(database),
      accounts: createSqlAccounts(database),
      suppressions: list,
      secret: SECRET,
    });
    onTestFinished(() => lookup.close());
    const { barredFromIndex } = createSuppressions(list, SECRET);
    const frontier = new PageFrontier(database);
    await frontier.begin(DOMAIN, [START], { isNow: true, maxPages: 50 });

    async function take(maxPages = 50): Promise<LeasedPage> {
      const page = await frontier.take(DOMAIN, maxPages, Date.now());
      if (page === null || typeof page === "number") throw new Error(`no page is due: ${page}`);
      return page;
    }
    return {
      ...{ url, database, lookup, frontier, take, barredFromIndex, source: createSqlContactSource(database) },
      query: (text: string) => useDatabase(database).all<Record<string, unknown>>(text),
      async again(): Promise<LeasedPage> {
        await useDatabase(database).run("UPDATE lookup_pages SET due_at = rank WHERE is_leased = 0");
        return await take();
      },
      visit: (page: LeasedPage, visit: PageVisit, isBarred = barredFromIndex, monthsAgo = 0) =>
        storeVisit(database, page, visit, isBarred, Date.now() - monthsAgo * 31 * 86_400_000),
    };
  }
  type Pages = Awaited<ReturnType<typeof pages>>;

  /** The test of a visit during which a subject is erased, after the first `asked` questions. */
  function erasing({ lookup, barredFromIndex }: Pages, subject: string, asked: number) {
    let questions = 0;
    return async (subjects: readonly string[]) => {
      const barred = questions++ === asked ? undefined : await barredFromIndex(subjects);
      if (barred !== undefined) return barred;
      const before = await barredFromIndex(subjects);
      await lookup.erase(subject);
      return before;
    };
  }

  test.each<[string, PageVisit]>([
    ["the same page as before", { kind: "same" }],
    ["a page that shows the person", read([person("ada"), person("bob")])],
    ["a page that no longer shows the person", read([person("bob")])],
  ])("a person who is erased during a visit to %s is not stored again", async (_what, visit) => {
    const index = await pages();
    await index.visit(await index.take(), read([person("ada", "CTO"), person("bob")]));
    await index.visit(await index.again(), visit, erasing(index, `ada@${DOMAIN}`, 0));
    expect(await index.source.find(`ada@${DOMAIN}`)).toBeNull();
    expect(await index.source.find(`bob@${DOMAIN}`)).not.toBeNull();
    expect(await index.query("SELECT address FROM lookup_page_addresses")).toEqual([
      { address: `bob@${DOMAIN}` },
    ]);
  });

  test("a text that is cut within a character is stored", async () => {
    const index = await pages();
    await index.visit(await index.take(), read([person("ada", `${"a".repeat(299)}😀`)]));
    expect((await index.source.find(`ada@${DOMAIN}`))?.position).toBe("a".repeat(299));
  });

  test("a domain that is erased during a visit is not stored again, nor its organisation", async () => {
    const index = await pages();
    await index.visit(await index.take(), read([person("bob")]));
    await index.visit(await index.again(), read([person("bob")]), erasing(index, DOMAIN, 0));
    for (const table of ["lookup_domains", "lookup_contacts", "lookup_pages", "lookup_page_addresses"])
      expect(await index.query(`SELECT * FROM ${table}`), table).toEqual([]);
  });

  test("erasing a subaddress erases the address, and a visit stores neither", async () => {
    const index = await pages();
    await index.visit(await index.take(), read([person("ada"), person("ada+news")]));
    expect(await index.lookup.erase(`ada+news@${DOMAIN}`)).toBe(true);
    await index.visit(await index.again(), read([person("ada"), person("ada+news")]));
    expect(await index.query("SELECT address FROM lookup_contacts")).toEqual([]);
  });

  test("a contact that was marked as erased but is still on a page is erased by the next visit, not called gone", async () => {
    const index = await pages();
    await index.visit(await index.take(), read([person("ada")]));
    await createSuppressions(createSqlSuppressionList(index.database), SECRET).markErased(`ada@${DOMAIN}`);
    expect(await index.visit(await index.again(), read([person("ada")]))).toMatchObject({ gone: 0 });
    expect(await index.source.find(`ada@${DOMAIN}`)).toBeNull();
  });

  test("a visit whose lease has ended stores nothing", async () => {
    const index = await pages();
    const page = await index.take();
    const other = await index.frontier.take(DOMAIN, 50, page.leasedUntilMs + 1);
    if (other === null || typeof other === "number") throw new Error("the lease did not end");
    expect(await index.visit(page, read([person("ada")]))).toEqual({ added: 0, updated: 0, gone: 0 });
    expect(await index.source.find(`ada@${DOMAIN}`)).toBeNull();
    expect(await index.query("SELECT is_leased FROM lookup_pages")).toEqual([{ is_leased: 1 }]);
    expect(await index.visit(other, read([person("bob")]))).toMatchObject({ added: 1 });
  });

  test("a sitemap that answers 404 stays due once in 90 days and does not change the number of pages", async () => {
    const index = await pages();
    await index.visit(await index.take(), read([]));
    await index.frontier.add(DOMAIN, [{ ...foundPage("/sitemap.xml"), isSitemap: true, rank: 1 }]);
    for (let visit = 0; visit < 3; visit++) {
      await useDatabase(index.database).run("UPDATE lookup_pages SET due_at = rank WHERE is_sitemap = 1");
      await index.visit(await index.take(), { kind: "missing" });
    }
    expect(await index.query("SELECT pages FROM lookup_page_domains")).toEqual([{ pages: 1 }]);
    expect(await index.query("SELECT interval_days FROM lookup_pages WHERE is_sitemap = 1")).toEqual([
      { interval_days: 90 },
    ]);
  });

  test("a page takes the place of its canonical one that was never read, but not without contacts", async () => {
    const index = await pages();
    const [print, team] = [foundPage("/team?print=1"), foundPage("/team")];
    await index.visit(await index.take(), read([]));
    await index.frontier.add(DOMAIN, [print, team]);
    const page = await index.take();
    expect(page.url).toBe(print.url);
    await index.visit(page, read([], team));
    const keys = async () =>
      (await index.query("SELECT page_key FROM lookup_pages WHERE depth = 1 ORDER BY page_key")).map(
        (row) => row.page_key,
      );
    expect(await keys()).toEqual([team.key, print.key]);
    await useDatabase(index.database).run(`UPDATE lookup_pages SET due_at = 0 WHERE url = '${print.url}'`);
    expect(await index.visit(await index.take(), read([person("ada")], team))).toMatchObject({ added: 1 });
    expect(await keys()).toEqual([team.key]);
    expect((await index.source.find(`ada@${DOMAIN}`))?.evidence).toMatchObject([{ uri: team.url }]);
    expect(await index.query("SELECT pages FROM lookup_page_domains")).toEqual([{ pages: 2 }]);
  });

  test("of two pages that name each other as canonical, at least one shows its people", async () => {
    const index = await pages();
    const [a, b] = [foundPage("/a"), foundPage("/b")];
    await index.visit(await index.take(), read([]));
    await index.frontier.add(DOMAIN, [a, b]);
    const other = ({ url }: LeasedPage) => (url === a.url ? b : a);
    for (const contacts of [[], [person("ada")], [person("ada")]]) {
      await useDatabase(index.database).run("UPDATE lookup_pages SET due_at = rank WHERE depth = 1");
      for (const page of [await index.take(), await index.take()])
        await index.visit(page, read(contacts, other(page)));
    }
    const ada = await index.source.find(`ada@${DOMAIN}`);
    expect(ada?.evidence.some(({ stillOnPage }) => stillOnPage)).toBe(true);
  });

  test("a value that only pages gave follows them after an import, an imported one stays", async () => {
    const index = await pages();
    const take = (text: string) => importContacts(index.database, fileOf(text), {});
    const found = async () => await index.source.find(`ada@${DOMAIN}`);
    const told = (position: string, phoneNumber: string) => ({ ...person("ada", position), phoneNumber });
    await index.visit(await index.take(), read([told("CTO", "1")]));
    await take(`email,last name\nada@${DOMAIN},Lovelace\n`);
    await index.visit(await index.again(), read([told("Head of Sales", "2")]));
    expect(await found()).toMatchObject({ lastName: "Lovelace", phoneNumber: "2" });
    expect(await found()).toMatchObject({ position: "Head of Sales", department: "sales" });
    await take(`email,phone,position\nada@${DOMAIN},+41 44 668 18 00,\n`);
    await index.visit(await index.again(), read([told("CEO", "3")]));
    expect(await found()).toMatchObject({ phoneNumber: "+41 44 668 18 00", position: "CEO" });
    await take(`email,position\nada@${DOMAIN},Engineer\n`);
    await index.visit(await index.again(), read([told("Head of Sales", "4")]));
    expect(await found()).toMatchObject({ position: "Engineer", phoneNumber: "+41 44 668 18 00" });
    expect((await found())?.department).not.toBe("sales");
  });

  test("a contact that no page has shown for 18 months gets a lower confidence, once", async () => {
    const index = await pages();
    await index.visit(await index.take(), read([person("ada")]), undefined, 19);
    const found = async () => await index.source.find(`ada@${DOMAIN}`);
    expect(await found()).toMatchObject({ confidence: 75 });
    expect(await expireContacts(index.database, Date.now())).toBe(0);
    const aged = await found();
    expect(aged?.confidence).toBeLessThan(30);
    expect(aged?.evidence).toMatchObject([{ uri: START.url, stillOnPage: true }]);
    expect(await index.query("SELECT is_aged FROM lookup_page_addresses")).toEqual([{ is_aged: 1 }]);
    await index.visit(await index.again(), read([person("ada")]));
    expect(await found()).toMatchObject({ confidence: 75 });
    expect(await index.query("SELECT is_aged FROM lookup_page_addresses")).toEqual([{ is_aged: 0 }]);
  });

  test("after 36 months, what pages gave to an imported contact is dropped, and what imports gave is kept", async () => {
    const index = await pages();
    await index.visit(await index.take(), read([person("ada", "CTO"), person("bob")]), undefined, 40);
    const source = "source_uri,last_seen_on,still_on_page";
    const line = `ada@${DOMAIN},Lovelace,https://other.example/,2019-01-01,false`;
    await importContacts(index.database, fileOf(`email,last name,${source}\n${line}\n`), {});
    expect(await index.source.find(`ada@${DOMAIN}`)).toMatchObject({ firstName: "ada", position: "CTO" });
    expect(await expireContacts(index.database, Date.now())).toBe(1);
    expect(await index.source.find(`bob@${DOMAIN}`)).toBeNull();
    expect(await index.source.find(`ada@${DOMAIN}`)).toMatchObject({
      ...{ firstName: null, lastName: "Lovelace", position: null, seniority: null },
      evidence: [{ uri: "https://other.example/" }],
    });
    expect(await index.query("SELECT * FROM lookup_page_addresses")).toEqual([]);
  });

  test("erasing a person removes the pages that showed no one else and name the person, and no visit keeps them", async () => {
    const index = await pages();
    const [own, team] = [foundPage("/team/zo%C3%AB"), foundPage("/team")];
    const zoe = { ...person("zq"), firstName: "Zoë" };
    await index.visit(await index.take(), read([]));
    await index.frontier.add(DOMAIN, [own, team]);
    for (const page of [await index.take(), await index.take()])
      await index.visit(page, read(page.url === own.url ? [zoe] : [zoe, person("bob")], page));
    expect(await index.lookup.erase(zoe.address)).toBe(true);
    const known = () => index.query("SELECT page_key FROM lookup_pages WHERE rank > 0");
    expect(await known()).toEqual([{ page_key: team.key }]);
    expect(await index.query("SELECT pages FROM lookup_page_domains")).toEqual([{ pages: 2 }]);
    await index.frontier.add(DOMAIN, [own]);
    await index.visit(await index.take(), read([zoe], own));
    expect(await known()).toEqual([{ page_key: team.key }]);
  });

  test("a page of a domain that shows addresses of an erased subdomain is read anew", async () => {
    const index = await pages();
    const visit = read([{ ...person("ada"), address: `ada@lab.${DOMAIN}` }]);
    await index.visit(await index.take(), { ...visit, etag: '"1"' } as PageVisit);
    await index.lookup.erase(`lab.${DOMAIN}`);
    expect(await index.again()).toMatchObject({ etag: null, digest: null });
  });

  if (kind === "sqlite") {
    test("an import holds the lock of an embedded database for less time than another process waits", async () => {
      const index = await pages();
      const counts: number[] = [];
      const lines = Array.from({ length: 9000 }, (_, row) => `p${row}@many.example`);
      await importContacts(index.database, fileOf(`email\n${lines.join("\n")}`), {
        onProgress: ({ added }) => counts.push(added),
      });
      expect(counts).toEqual([4000, 8000, 9000]);
    });
    return;
  }

  test("erasing a domain and taking a page of it do not wait for each other", async () => {
    const index = await pages();
    await index.visit(await index.take(), read([]));
    const client = new pg.Client({ connectionString: index.url });
    await client.connect();
    try {
      // What `take` does, in two steps.
      await client.query("BEGIN; SELECT pages FROM lookup_page_domains FOR UPDATE");
      const erased = index.source.eraseDomain(DOMAIN);
      await expect
        .poll(async () => {
          const waiting =
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
          return (await client.query(waiting)).rows.length;
        })
        .toBe(1);
      await client.query("UPDATE lookup_pages SET is_leased = 1");
      await client.query("COMMIT");
      await erased;
    } finally {
      await client.end();
    }
    expect(await index.query("SELECT * FROM lookup_pages")).toEqual([]);
  });
});
