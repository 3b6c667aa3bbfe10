import { eraseOne } from "../contacts/erase-contacts.ts";
import type { ContactNews } from "../contacts/merge-contact.ts";
import { unpackStoredContact } from "../contacts/packed-contact.ts";
import { putBatch } from "../contacts/put-batch.ts";
import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";
import type { SuppressionTest } from "../transfer/suppressed-among.ts";
import { type LeasedPage, MIN_INTERVAL_DAYS } from "./page-frontier.ts";

/** An address that a page shows, and what stands beside it. `null`: the page does not say. */
export interface PageContact {
  /** Normalised. */
  address: string;
  firstName: string | null;
  lastName: string | null;
  position: string | null;
  phoneNumber: string | null;
  networkAUrl: string | null;
  networkB: string | null;
}

/** What a visit found: a page, the same page as before, or none (404, 410). */
export type PageVisit =
  | {
      kind: "read";
      /** The source, and its key. If another page of the domain has the key, this one counts as its copy, without contacts. */
      uri: string;
      key: string;
      contacts: readonly PageContact[];
      organization: string | null;
      etag: string | null;
      modified: string | null;
      /** SHA-256 of the contacts. */
      digest: string;
    }
  | { kind: "same" }
  | { kind: "missing" };

/** Addresses of a visit, by outcome. */
export interface VisitCounts {
  added: number;
  updated: number;
  /** No longer on the page. */
  gone: number;
}

interface KnownAddress {
  address: string;
  first_on: string;
  seen_on: string;
  is_shown: number;
}

const DAY_MS = 86_400_000;
const MAX_INTERVAL_DAYS = 90;
/** A page that misses so many visits is gone. */
const MAX_MISSES = 2;
const KEPT_YEARS = 3;
const EXPIRED_AT_ONCE = 500;
const MAX_TEXT_LENGTH = 300;

/**
 * Stores a visit in one transaction: the contacts with this page as their source, and when the page is due again.
 * @param isBarred Which people and domains are never stored.
 */
export async function storeVisit(
  database: SqlDatabase,
  page: LeasedPage,
  visit: PageVisit,
  isBarred: SuppressionTest,
  nowMs: number,
): Promise<VisitCounts> {
  const driver = useDatabase(database);
  const today = dayOf(nowMs);
  const rows = await driver.all<KnownAddress>(
    "SELECT address, first_on, seen_on, is_shown FROM lookup_page_addresses WHERE page = $1",
    [page.seq],
  );
  const known = new Map(rows.map((row) => [row.address, row]));
  const shownBefore = rows.filter((row) => row.is_shown === 1);
  const isGone = visit.kind === "missing" && page.misses + 1 >= MAX_MISSES;
  const isCopy = visit.kind === "read" && (await hasOther(driver, page, visit.key));
  const isSame = visit.kind !== "read" || visit.digest === page.digest;
  const uri = (visit.kind === "read" ? visit.uri : page.uri) ?? page.url;
  const found = visit.kind === "read" && !isCopy ? visit.contacts : [];
  const listed: readonly ({ address: string } & Partial<PageContact>)[] =
    visit.kind === "read" ? found : isGone ? [] : shownBefore.map(({ address }) => ({ address }));
  const barred = await isBarred(listed.map(({ address }) => address));
  const shown = listed.filter(({ address }) => !barred.has(address));
  const addresses = new Set(shown.map(({ address }) => address));
  const isMoved = page.uri !== null && page.uri !== uri;
  const left = shownBefore.filter(({ address }) => isMoved || !addresses.has(address));
  // A page that misses one visit says nothing about its addresses.
  const isSilent = visit.kind === "missing" && !isGone;
  const news: ContactNews[] = [
    ...left.map(({ address, first_on, seen_on }) =>
      newsOf(address, page.uri ?? uri, first_on, seen_on, false),
    ),
    ...shown.map(({ address, ...facts }) => ({
      ...newsOf(address, uri, known.get(address)?.first_on ?? today, today, true),
      // Of several pages with other facts, the one that changed last counts.
      ...(isSame && known.get(address)?.is_shown === 1 ? {} : knownFacts(facts)),
    })),
  ];
  const gone = left.filter(({ address }) => !addresses.has(address)).map(({ address }) => address);
  const organizations = new Map<string, string>();
  if (visit.kind === "read" && visit.organization !== null && !(await hasOrganization(driver, page.domain)))
    organizations.set(page.domain, storable(visit.organization));
  const counts = await putBatch(driver, isSilent ? [] : news, organizations, nowMs, async (runner) => {
    if (!isSilent) await writeAddresses(runner, driver, page.seq, [...addresses], gone, today);
    if (isGone) return await removePage(runner, page);
    const intervalDays = isCopy
      ? MAX_INTERVAL_DAYS
      : isSame && !isSilent
        ? Math.min(MAX_INTERVAL_DAYS, page.intervalDays * 2)
        : MIN_INTERVAL_DAYS;
    const { etag, modified, digest } = visit.kind === "read" ? visit : page;
    // With validators, a page would never again show people who are no longer barred.
    const validators = barred.size > 0 ? [null, null] : [etag, modified];
    await runner.run(
      `UPDATE lookup_pages SET is_leased = 0, due_at = $2, interval_days = $3, misses = $4, etag = $5, modified = $6,
         digest = $7, uri = $8, page_key = CASE WHEN EXISTS (
           SELECT 1 FROM lookup_pages AS other WHERE other.domain = $10 AND other.page_key = $9
         ) THEN page_key ELSE $9 END WHERE seq = $1`,
      [
        ...[page.seq, nowMs + intervalDays * DAY_MS, intervalDays, isSilent ? page.misses + 1 : 0],
        ...[...validators, barred.size > 0 ? null : digest, visit.kind === "read" ? uri : page.uri],
        ...[visit.kind === "read" ? visit.key : page.key, page.domain],
      ],
    );
  });
  // Whoever was suppressed or erased since the check above may have been stored after the erasure. words: ok
  for (const address of await isBarred([...addresses])) await eraseOne(driver, address);
  return { added: counts.added, updated: Math.max(0, counts.updated - gone.length), gone: gone.length };
}

/**
 * Erases the contacts that are known from pages only and that none has shown for 36 months.
 * @returns the number of erased contacts.
 */
export async function expireContacts(database: SqlDatabase, nowMs: number): Promise<number> {
  const driver = useDatabase(database);
  const before = new Date(nowMs);
  before.setUTCFullYear(before.getUTCFullYear() - KEPT_YEARS);
  const day = dayOf(before.getTime());
  let erased = 0;
  for (;;) {
    const rows = await driver.all<{ address: string }>(
      `SELECT address FROM lookup_page_addresses WHERE seen_on < $1 ORDER BY seen_on LIMIT ${EXPIRED_AT_ONCE}`,
      [day],
    );
    for (const address of new Set(rows.map((row) => row.address))) {
      const row = await driver.first<{ packed: string }>(
        "SELECT packed FROM lookup_contacts WHERE address = $1",
        [address],
      );
      const contact = row && unpackStoredContact(row.packed);
      const isExpired =
        contact?.isFromPages === true &&
        contact.evidence.every(({ lastSeenOn }) => (lastSeenOn ?? day) < day);
      if (isExpired && (await eraseOne(driver, address))) erased++;
      await driver.run("DELETE FROM lookup_page_addresses WHERE address = $1 AND seen_on < $2", [
        address,
        day,
      ]);
    }
    if (rows.length < EXPIRED_AT_ONCE) return erased;
  }
}

function newsOf(
  address: string,
  uri: string,
  extractedOn: string,
  lastSeenOn: string,
  stillOnPage: boolean,
): ContactNews {
  const domain = new URL(uri).hostname.replace(/^www\./, "");
  return {
    address,
    domain: address.slice(address.lastIndexOf("@") + 1),
    evidence: [{ domain, uri, extractedOn, lastSeenOn, stillOnPage }],
    isFromPage: true,
  };
}

function knownFacts(facts: Partial<PageContact>): Partial<ContactNews> {
  const { firstName, lastName, position, phoneNumber, networkAUrl, networkB } = facts;
  const named = Object.entries({ firstName, lastName, position, phoneNumber, networkAUrl, networkB });
  return Object.fromEntries(named.flatMap(([name, value]) => (value ? [[name, storable(value)]] : [])));
}

/** Without control characters and halves of characters, which PostgreSQL rejects; of bounded length. */
function storable(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}]+/gu, " ")
    .trim()
    .slice(0, MAX_TEXT_LENGTH);
}

async function hasOther(driver: SqlDriver, { domain, seq }: LeasedPage, key: string): Promise<boolean> {
  const select = "SELECT 1 AS found FROM lookup_pages WHERE domain = $1 AND page_key = $2 AND seq <> $3";
  return (await driver.first(select, [domain, key, seq])) !== undefined;
}

async function hasOrganization(driver: SqlDriver, domain: string): Promise<boolean> {
  const select = "SELECT 1 AS found FROM lookup_domains WHERE name = $1 AND organization IS NOT NULL";
  return (await driver.first(select, [domain])) !== undefined;
}

async function writeAddresses(
  runner: SqlRunner,
  { dialect }: SqlDriver,
  page: number,
  shown: readonly string[],
  gone: readonly string[],
  today: string,
): Promise<void> {
  await runner.run(
    `INSERT INTO lookup_page_addresses (page, address, first_on, seen_on, is_shown)
     SELECT CAST($1 AS bigint), value, $2, $2, 1 FROM ${dialect.strings("$3")} AS given WHERE true
     ON CONFLICT (page, address) DO UPDATE SET seen_on = excluded.seen_on, is_shown = 1`,
    [page, today, JSON.stringify(shown)],
  );
  await runner.run(
    `UPDATE lookup_page_addresses SET is_shown = 0 WHERE page = $1 AND address IN ${dialect.strings("$2")}`,
    [page, JSON.stringify(gone)],
  );
}

/** Its addresses stay known until they expire. */
async function removePage(runner: SqlRunner, { seq, domain }: LeasedPage): Promise<void> {
  // In the order of the frontier, so that no two transactions wait for each other.
  await runner.run("UPDATE lookup_page_domains SET pages = pages - 1 WHERE name = $1", [domain]);
  await runner.run("DELETE FROM lookup_pages WHERE seq = $1", [seq]);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
