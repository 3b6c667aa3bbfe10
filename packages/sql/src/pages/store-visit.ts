import { eraseDomain, eraseOne, isPageOf, removePage } from "../contacts/erase-contacts.ts";
import type { ContactNews } from "../contacts/merge-contact.ts";
import { BATCH_WRITE, putNews } from "../contacts/put-batch.ts";
import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";
import { type SuppressionTest, suppressedAmong } from "../transfer/suppressed-among.ts";
import type { LeasedPage } from "./leased-page.ts";
import { MIN_INTERVAL_DAYS } from "./page-frontier.ts";

/** An address on a page, with the person beside it; fields that the page does not show are `null`. */
export interface PageContact {
  /** In lower case, the domain as A-labels. */
  address: string;
  firstName: string | null;
  lastName: string | null;
  position: string | null;
  /** As written. */
  phoneNumber: string | null;
  /** Profile at LinkedIn or Xing. */
  networkAUrl: string | null;
  /** Handle at X, formerly Twitter, with `@`. */
  networkB: string | null;
}

/** What a visit found: a page, the same page as before, or none (404, 410). */
export type PageVisit =
  | {
      kind: "read";
      /** The source, and its key. If another page of the domain was read and has the key, this one counts as its copy, without contacts. */
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
const MAX_TEXT_LENGTH = 300;

/**
 * Stores a visit in one transaction: the contacts with this page as their source, and when the page is due again. If the
 * lease of the page has ended, or its domain was erased, nothing is stored.
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
  const before = (await addressesOf(driver, page)).map(({ address }) => address);
  const found = visit.kind === "read" ? visit.contacts.map(({ address }) => address) : [];
  const subjects = [page.domain, ...before, ...found];
  const barred = await suppressedAmong(subjects, isBarred);
  const counts = barred.has(page.domain)
    ? null
    : await driver.write((runner) => writeVisit(runner, driver, page, visit, barred, nowMs), BATCH_WRITE);
  if (counts === null) return { added: 0, updated: 0, gone: 0 };
  // A person who was suppressed or erased since the check above may have been stored after the erasure; one who was
  // barred before may remain from an erasure that failed.
  const late = await suppressedAmong(
    [page.domain, ...before, ...found.filter((each) => !barred.has(each))],
    isBarred,
  );
  if (late.has(page.domain)) await eraseDomain(driver, page.domain);
  else for (const address of late) await eraseOne(driver, address);
  return counts;
}

/** @returns `null` if the page is no longer leased. */
async function writeVisit(
  runner: SqlRunner,
  driver: SqlDriver,
  page: LeasedPage,
  visit: PageVisit,
  barred: ReadonlySet<string>,
  nowMs: number,
): Promise<VisitCounts | null> {
  if (!(await isLeased(runner, driver, page))) return null;
  const today = dayOf(nowMs);
  const rows = (await addressesOf(runner, page)).filter(({ address }) => !barred.has(address));
  const known = new Map(rows.map((row) => [row.address, row]));
  const shownBefore = rows.filter(({ is_shown }) => is_shown === 1);
  const isMissing = visit.kind === "missing";
  const isGone = isMissing && !page.isSitemap && page.misses + 1 >= MAX_MISSES;
  const isCopy =
    visit.kind === "read" && (await isCopyOf(runner, page, visit.key, visit.contacts.length > 0));
  const isSame = visit.kind !== "read" || visit.digest === page.digest;
  const uri = (visit.kind === "read" ? visit.uri : page.uri) ?? page.url;
  const found = visit.kind === "read" && !isCopy ? visit.contacts : [];
  const listed: readonly ({ address: string } & Partial<PageContact>)[] =
    visit.kind === "read" ? found : isGone ? [] : shownBefore.map(({ address }) => ({ address }));
  const shown = listed.filter(({ address }) => !barred.has(address));
  const addresses = new Set(shown.map(({ address }) => address));
  const isMoved = page.uri !== null && page.uri !== uri;
  const left = shownBefore.filter(({ address }) => isMoved || !addresses.has(address));
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
  if (visit.kind === "read" && visit.organization !== null && !(await hasOrganization(runner, page.domain)))
    organizations.set(page.domain, storable(visit.organization));
  // A page that misses one visit says nothing about its addresses.
  const isSilent = isMissing && !isGone;
  const counts = await putNews(runner, driver, isSilent ? [] : news, organizations, nowMs, false);
  if (!isSilent) await writeAddresses(runner, driver, page.seq, [...addresses], gone, today);
  // A page of an erased person alone, whose URL names the person.
  const isBarred =
    visit.kind === "read" &&
    visit.contacts.some((contact) => isPageOf(contact, page.url + uri)) &&
    visit.contacts.every(({ address }) => barred.has(address));
  if (isGone || (isBarred && page.rank > 0)) await removePage(runner, page.domain, page.seq, 1);
  else {
    const isRare = isCopy || (isMissing && page.isSitemap);
    const nextDays = isSame && !isSilent ? page.intervalDays * 2 : MIN_INTERVAL_DAYS;
    const intervalDays = isRare ? MAX_INTERVAL_DAYS : Math.min(MAX_INTERVAL_DAYS, nextDays);
    const { etag, modified, digest } = visit.kind === "read" ? visit : page;
    // With validators, a page would never again show people who are no longer barred.
    const validators = barred.size > 0 ? [null, null] : [etag, modified];
    await runner.run(
      `UPDATE lookup_pages SET is_leased = 0, due_at = $2, interval_days = $3, misses = $4, failures = 0, etag = $5, modified = $6,
         digest = $7, uri = $8, page_key = CASE WHEN EXISTS (
           SELECT 1 FROM lookup_pages AS other WHERE other.domain = $10 AND other.page_key = $9
         ) THEN page_key ELSE $9 END WHERE seq = $1`,
      [
        ...[page.seq, nowMs + intervalDays * DAY_MS, intervalDays, isSilent ? page.misses + 1 : 0],
        ...[...validators, barred.size > 0 ? null : digest, visit.kind === "read" ? uri : page.uri],
        ...[visit.kind === "read" ? visit.key : page.key, page.domain],
      ],
    );
  }
  return { added: counts.added, updated: Math.max(0, counts.updated - gone.length), gone: gone.length };
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
    evidence: [{ domain, uri, extractedOn, lastSeenOn, stillOnPage, isIndexed: true }],
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
    .slice(0, MAX_TEXT_LENGTH)
    .replace(/[\p{Cc}\p{Cs}]+/gu, " ")
    .trim();
}

/** Whether the lease holds. Locks the domain as the frontier does, so that it cannot end before the visit is stored. */
async function isLeased(runner: SqlRunner, { dialect }: SqlDriver, page: LeasedPage): Promise<boolean> {
  const lock = dialect.kind === "postgres" ? "FOR UPDATE" : "";
  await runner.first(`SELECT 1 AS found FROM lookup_page_domains WHERE name = $1 ${lock}`, [page.domain]);
  const select = "SELECT 1 AS found FROM lookup_pages WHERE seq = $1 AND due_at = $2 AND is_leased = 1";
  return (await runner.first(select, [page.seq, page.leasedUntilMs])) !== undefined;
}

async function addressesOf(runner: SqlRunner, { seq }: LeasedPage): Promise<KnownAddress[]> {
  const select = "SELECT address, first_on, seen_on, is_shown FROM lookup_page_addresses WHERE page = $1";
  return await runner.all<KnownAddress>(select, [seq]);
}

/** Whether another page has the key and was read. One that was not loses it to a page with contacts: it may never be read. */
async function isCopyOf(
  runner: SqlRunner,
  { domain, seq, url }: LeasedPage,
  key: string,
  hasContacts: boolean,
): Promise<boolean> {
  const other = await runner.first<{ seq: number; uri: string | null; rank: number; is_new: number }>(
    `SELECT seq, uri, rank, is_new FROM lookup_pages WHERE domain = $1 AND page_key = $2 AND seq <> $3 AND is_sitemap = 0`,
    [domain, key, seq],
  );
  if (other === undefined) return false;
  // It may be the copy of this page.
  if (other.uri !== null) return other.uri !== url;
  if (hasContacts && other.rank > 0) await removePage(runner, domain, other.seq, 1 - other.is_new);
  return false;
}

async function hasOrganization(runner: SqlRunner, domain: string): Promise<boolean> {
  const select = "SELECT 1 AS found FROM lookup_domains WHERE name = $1 AND organization IS NOT NULL";
  return (await runner.first(select, [domain])) !== undefined;
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
    `INSERT INTO lookup_page_addresses (page, address, first_on, seen_on, is_shown, is_aged)
     SELECT CAST($1 AS bigint), value, $2, $2, 1, 0 FROM ${dialect.strings("$3")} AS given WHERE true
     ON CONFLICT (page, address) DO UPDATE SET seen_on = excluded.seen_on, is_shown = 1, is_aged = 0`,
    [page, today, JSON.stringify(shown)],
  );
  await runner.run(
    `UPDATE lookup_page_addresses SET is_shown = 0 WHERE page = $1 AND address IN ${dialect.strings("$2")}`,
    [page, JSON.stringify(gone)],
  );
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
