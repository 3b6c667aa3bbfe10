import { Kysely, Migrator, PostgresDialect, sql } from "kysely";
import Database from "libsql";
import pg from "pg";
import { expect, test } from "vitest";
import { onEachDatabase } from "../../test/each-database.ts";
import { createSqlAccounts } from "../accounts/sql-accounts.ts";
import { createSqlContactSource } from "../contacts/sql-contact-source.ts";
import { PageFrontier } from "../pages/page-frontier.ts";
import { storeVisit } from "../pages/store-visit.ts";
import { createSqlVerificationQueue } from "../verifications/sql-verification-queue.ts";
import { createTables } from "./create-tables.ts";
import { lookupMigrations, sqliteDialect } from "./migrate.ts";

onEachDatabase(({ kind, createUrl, open }) => {
  test("contacts of the first schema are found by every later filter", async () => {
    const url = await createUrl();
    await createFirstSchema(kind, url);
    const source = createSqlContactSource(open(url));
    const found = async (filter: Parameters<typeof source.search>[1], domain = "example.com") => {
      const { contacts, total } = await source.search(domain, filter, { limit: 10, offset: 0 });
      expect(contacts).toHaveLength(total);
      return contacts.map(({ address }) => address);
    };
    expect(await found({})).toEqual(["ada@example.com", "bob@example.com", "info@example.com"]);
    expect(await found({ requiredFields: ["full_name"] })).toEqual(["ada@example.com"]);
    expect(await found({ requiredFields: ["position"] })).toEqual(["ada@example.com", "bob@example.com"]);
    expect(await found({ jobTitles: [" analyst "] })).toEqual(["ada@example.com", "bob@example.com"]);
    expect(await found({ jobTitles: [" analyst "], departments: ["it"] })).toEqual(["bob@example.com"]);
    expect(await found({ verificationStatuses: ["valid"] })).toEqual([]);
    expect(await found({ jobTitles: [" analyst "] }, "example.org")).toEqual(["eve@example.org"]);
    await source.recordVerification?.("bob@example.com", { status: "valid", date: "2026-05-04" }, true);
    expect(await found({ verificationStatuses: ["valid"] })).toEqual(["bob@example.com"]);
    expect(await source.count("example.com", "generic")).toMatchObject({ total: 1 });
    expect(await source.erase("ada@example.com")).toBe(1);
    expect(await found({ jobTitles: [" chief analyst "] })).toEqual([]);
    await source.close();
  });

  test("people of the first schema are found without initials and suffixes", async () => {
    const url = await createUrl();
    await createFirstSchema(kind, url);
    const source = createSqlContactSource(open(url));
    const found = await source.findByName("example.org", "Eve", "Stone");
    expect(found.map(({ address }) => address)).toEqual(["eve@example.org"]);
    await source.close();
  });

  test("people of a schema with earlier keys are found without initials, in batches", async () => {
    const url = await createUrl();
    await createFirstSchema(kind, url);
    const earlier = open(url);
    await createSqlContactSource(earlier).domain("example.com");
    await earlier.close();
    const db = connect(kind, url);
    await sql`UPDATE lookup_contacts SET name_key = 'old', spelling_key = 'old',
      packed = replace(packed, 'Eve M.', ${"Eve\u00a0M"}) WHERE name_key IS NOT NULL`.execute(db);
    await sql`INSERT INTO lookup_contacts (domain_id, doubt, facet, address, name_key, spelling_key, packed)
      WITH RECURSIVE many(n) AS (SELECT 10000 UNION ALL SELECT n + 1 FROM many WHERE n < 15100)
      SELECT 1, 50, 0, 'n' || n || '@example.com', 'old', 'old',
        '["n' || n || '@example.com",0,50,0,"Ann B.","Lee",null,null,null,null,null,[]]' FROM many`.execute(
      db,
    );
    await sql`DELETE FROM lookup_migrations WHERE name = '008-plain-names'`.execute(db);
    await db.destroy();
    const source = createSqlContactSource(open(url));
    const found = await source.findByName("example.org", "Eve", "Stone");
    expect(found.map(({ address }) => address)).toEqual(["eve@example.org"]);
    await source.close();
    const migrated = connect(kind, url);
    const { rows } = await sql`SELECT address FROM lookup_contacts WHERE spelling_key = 'old'`.execute(
      migrated,
    );
    expect(rows).toEqual([{ address: "ada@example.com" }]);
    await migrated.destroy();
  });

  test("a database of the first schema takes pages and contacts from them", async () => {
    const url = await createUrl();
    await createFirstSchema(kind, url);
    const database = open(url);
    const frontier = new PageFrontier(database);
    const first = { key: "example.com", url: "https://example.com/", isSitemap: false, depth: 0, rank: 0 };
    await frontier.begin("example.com", [first], { isNow: false, maxPages: 50 });
    const page = await frontier.take("example.com", 50, Date.now());
    if (page === null || typeof page === "number") throw new Error("no page is due");
    const none = { lastName: null, position: "CTO", phoneNumber: null, networkAUrl: null, networkB: null };
    const contacts = ["ada", "info", "new"].map((local) => ({
      address: `${local}@example.com`,
      firstName: "Eve",
      ...none,
    }));
    const visit = { kind: "read", uri: first.url, key: first.key, organization: "Other", contacts } as const;
    const counts = await storeVisit(
      database,
      page,
      { ...visit, etag: null, modified: null, digest: "d" },
      async () => new Set(),
      Date.now(),
    );
    expect(counts).toEqual({ added: 1, updated: 2, gone: 0 });
    const source = createSqlContactSource(database);
    expect(await source.find("ada@example.com")).toMatchObject({
      firstName: "Ada",
      position: "Chief Analyst",
      confidence: 94,
      evidence: [{ uri: first.url }],
    });
    expect(await source.find("new@example.com")).toMatchObject({
      firstName: "Eve",
      position: "CTO",
      confidence: 75,
    });
    expect((await source.domain("example.com"))?.organization).toBe("München Bau GmbH");
  });

  test("keys of the first schema have no right to report, and reports are stored beside them", async () => {
    const url = await createUrl();
    await createFirstSchema(kind, url);
    const db = connect(kind, url);
    await sql`INSERT INTO lookup_accounts (id, plan, created_at) VALUES ('old', 'free', 5)`.execute(db);
    await sql`INSERT INTO lookup_keys (hash, account, hint, created_at)
      VALUES (${"h".repeat(43)}, 'old', 'or_1', 5)`.execute(db);
    await db.destroy();
    const accounts = createSqlAccounts(open(url));
    const account = { id: "old", email: null, firstName: null, lastName: null, plan: "free", createdAt: 5 };
    expect(await accounts.findByKey("h".repeat(43))).toEqual(account);
    expect(await accounts.keys("old")).toEqual([{ hint: "or_1", createdAt: 5, revokedAt: null }]);
    const report = { address: "ann@example.com", account: "old", kind: "bounced", at: 7 } as const;
    await accounts.report?.(report);
    expect(await accounts.reportsOn?.("ann@example.com", "old", 0)).toEqual([report]);
    await accounts.close();
  });

  test("a list of the schema before events is finished with an event", async () => {
    const url = await createUrl();
    const db = connect(kind, url);
    const { "011-list-events": _, ...before } = lookupMigrations(kind);
    const { error } = await new Migrator({
      db,
      provider: { getMigrations: async () => before },
      migrationTableName: "lookup_migrations",
      migrationLockTableName: "lookup_migrations_lock",
    }).migrateToLatest();
    expect(error).toBeUndefined();
    await sql`INSERT INTO lookup_verification_lists
      (id, account, plan, total, done, is_started, is_single, created_at) VALUES ('old', 'a', 'free', 1, 0, 0, 0, 5)`.execute(
      db,
    );
    await sql`INSERT INTO lookup_verification_rows (list, position, account, email, due_at, spot, attempts)
      SELECT seq, 0, 'a', 'ann@example.com', 5, 1, 0 FROM lookup_verification_lists`.execute(db);
    await db.destroy();
    const queue = createSqlVerificationQueue(open(url));
    expect(await queue.countEnds()).toEqual({ waiting: 0, oldestAt: null, dead: 0 });
    await queue.finish([{ list: "old", position: 0, result: "{}" }], { at: 7, state: "s" });
    expect(await queue.takeEnds(1, 10, 7)).toEqual([
      { list: "old", account: "a", total: 1, at: 7, state: "s", leaseUntilMs: 17 },
    ]);
    await queue.close();
  });

  test("companies of the first schema are found by their usual spellings", async () => {
    const url = await createUrl();
    await createFirstSchema(kind, url);
    const source = createSqlContactSource(open(url));
    for (const name of ["Muenchen Bau", "MÜNCHEN BAU GMBH", "munchen-bau g.m.b.h."]) {
      expect(await source.domainOf(name), name).toBe("example.com");
    }
    expect(await source.domain("example.com")).toMatchObject({ linkedDomains: [] });
    await source.close();
  });
});

/** Contacts as the first release stored them: address, class, confidence, names, position, profiles, phone, pages. */
const CONTACTS: [domainId: number, packed: (string | number | null | [])[]][] = [
  [
    1,
    [
      "ada@example.com",
      10,
      94,
      1,
      "Ada",
      "Lovelace",
      "Chief Analyst",
      null,
      null,
      null,
      "+44 20 7946 0000",
      [],
    ],
  ],
  [1, ["bob@example.com", 16, 80, 1, "Bob", null, "Analyst", null, null, null, null, []]],
  [1, ["info@example.com", 1, 20, 0, null, null, null, null, null, null, null, []]],
  [2, ["eve@example.org", 0, 20, 0, "Eve M.", "Stone Jr.", "Data Analyst", null, null, null, null, []]],
];

function connect(kind: "sqlite" | "postgres", url: string): Kysely<unknown> {
  return new Kysely({
    dialect:
      kind === "sqlite"
        ? sqliteDialect(new Database(url.slice("file:".length)))
        : new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }),
  });
}

async function createFirstSchema(kind: "sqlite" | "postgres", url: string): Promise<void> {
  const db = connect(kind, url);
  const { error } = await new Migrator({
    db,
    provider: {
      getMigrations: async () => ({ "001-tables": { up: (given) => createTables(given, kind) } }),
    },
    migrationTableName: "lookup_migrations",
    migrationLockTableName: "lookup_migrations_lock",
  }).migrateToLatest();
  expect(error).toBeUndefined();
  for (const [name, total, facets, organization] of [
    ["example.com", 3, '{"1":1,"10":1,"16":1}', "München Bau GmbH"],
    ["example.org", 1, '{"0":1}', "Muenchen Bau, GmbH"],
  ] as const) {
    await sql`INSERT INTO lookup_domains (name, total, facets, stale, revision, organization, organization_key)
      VALUES (${name}, ${total}, ${facets}, 0, 1, ${organization}, ${organization.toLowerCase()})`.execute(
      db,
    );
  }
  for (const [domainId, packed] of CONTACTS) {
    const [address, facet, confidence, , first, last] = packed;
    const nameKey = last === null ? null : `${first} ${last}`.toLowerCase().replace(/[^a-z ]/g, "");
    await sql`INSERT INTO lookup_contacts (domain_id, doubt, facet, address, name_key, packed)
      VALUES (${domainId}, ${100 - Number(confidence)}, ${facet}, ${address}, ${nameKey}, ${JSON.stringify(packed)})`.execute(
      db,
    );
  }
  await db.destroy();
}
