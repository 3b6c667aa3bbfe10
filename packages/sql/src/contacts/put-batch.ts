import { organizationKey, titleKey } from "@outrigger/core/lookup";
import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";
import { facetOf } from "./facets.ts";
import { type ContactNews, mergeContact } from "./merge-contact.ts";
import { nameKey, spellingKeyOf } from "./name-key.ts";
import { PACKED_JSON, packContact, type StoredContact, unpackStored } from "./packed-contact.ts";
import { doubtOf } from "./read-in-order.ts";

/** Result of a batch: the number of addresses by outcome. */
export interface BatchCounts {
  added: number;
  updated: number;
  unchanged: number;
}

/** A transaction of a batch. Its statements do the work of some thousand statements each. */
export const BATCH_WRITE = { isAlone: true, timeoutMs: 60_000 };
/** Number of contacts in one JSON text: each may have 20 pages with long URLs. */
const SLICE = 2000;

/** Stores news in one transaction; see {@link putNews}. */
export async function putBatch(
  driver: SqlDriver,
  news: readonly ContactNews[],
  organizations: ReadonlyMap<string, string>,
  nowMs: number,
): Promise<BatchCounts> {
  return await driver.write((runner) => putNews(runner, driver, news, organizations, nowMs), BATCH_WRITE);
}

/**
 * Stores news in a transaction of {@link BATCH_WRITE}, including the totals of their domains. The counts and marks of changed
 * domains become stale:
 * they are not used until `refreshContacts` has rebuilt them.
 *
 * @param organizations Names of organisations by domain; domains without news are allowed.
 * @param nowMs Unix milliseconds.
 * @param isNamed Whether these names stay, whatever contacts say.
 */
export async function putNews(
  runner: SqlRunner,
  driver: SqlDriver,
  news: readonly ContactNews[],
  organizations: ReadonlyMap<string, string>,
  nowMs: number,
  isNamed = true,
): Promise<BatchCounts> {
  const known = new Map<string, StoredContact>();
  for (const addresses of slicesOf([...new Set(news.map(({ address }) => address))])) {
    const row = await runner.first<{ known: string }>(
      `SELECT ${PACKED_JSON} AS known FROM lookup_contacts WHERE address IN ${driver.dialect.strings("$1")}`,
      [JSON.stringify(addresses)],
    );
    for (const contact of unpackStored(row?.known ?? "[]")) known.set(contact.address, contact);
  }
  const merged = new Map<string, { contact: StoredContact; domain: string }>();
  for (const each of news) {
    const before = merged.get(each.address)?.contact ?? known.get(each.address) ?? null;
    merged.set(each.address, { contact: mergeContact(before, each, nowMs), domain: each.domain });
  }
  return await writeMerged(runner, driver, known, merged, organizations, Number(isNamed));
}

async function writeMerged(
  runner: SqlRunner,
  { dialect }: SqlDriver,
  known: ReadonlyMap<string, StoredContact>,
  merged: ReadonlyMap<string, { contact: StoredContact; domain: string }>,
  organizations: ReadonlyMap<string, string>,
  isNamed: number,
): Promise<BatchCounts> {
  const counts = { added: 0, updated: 0, unchanged: 0 };
  /** Number of added contacts, by domain with a change. */
  const gains = new Map<string, number>();
  const changed: { contact: StoredContact; domain: string; packed: string }[] = [];
  for (const [address, { contact, domain }] of merged) {
    const before = known.get(address);
    const packed = packContact(contact);
    if (before !== undefined && packContact(before) === packed) {
      counts.unchanged++;
      continue;
    }
    if (before === undefined) counts.added++;
    else counts.updated++;
    gains.set(domain, (gains.get(domain) ?? 0) + (before === undefined ? 1 : 0));
    changed.push({ contact, domain, packed });
  }
  const domains = await knownDomains(runner, dialect, new Set([...gains.keys(), ...organizations.keys()]));
  const idOf = (domain: string) => domains.get(domain)?.id ?? null;
  if (changed.length > 0) {
    const rows = changed.map(({ contact, domain, packed }) => {
      const { address, firstName, lastName, position } = contact;
      const names = [nameKey(firstName, lastName), spellingKeyOf(firstName, lastName)] as const;
      const title = titleKey(position ?? "") || null;
      return [idOf(domain), doubtOf(contact), facetOf(contact), address, ...names, title, packed] as const;
    });
    // The indexes begin with the domain: its contacts are on the same pages.
    rows.sort(([a], [b]) => Number(a) - Number(b));
    for (const slice of slicesOf(rows)) {
      await runner.run(
        `INSERT INTO lookup_contacts (domain_id, doubt, facet, address, name_key, spelling_key, title, packed)
         SELECT CAST(each.value->>0 AS bigint), CAST(each.value->>1 AS integer), CAST(each.value->>2 AS integer),
           each.value->>3, each.value->>4, each.value->>5, each.value->>6, each.value->>7
         FROM ${dialect.rows("$1")} WHERE true
         ON CONFLICT (address) DO UPDATE SET doubt = excluded.doubt, facet = excluded.facet,
           name_key = excluded.name_key, spelling_key = excluded.spelling_key, title = excluded.title,
           packed = excluded.packed`,
        [JSON.stringify(slice)],
      );
    }
    await runner.run(
      `UPDATE lookup_domains SET total = total + CAST(each.value->>1 AS integer), stale = 1, patterns = NULL,
         revision = revision + 1
       FROM ${dialect.rows("$1")} WHERE lookup_domains.id = CAST(each.value->>0 AS bigint)`,
      [JSON.stringify([...gains].map(([domain, gain]) => [idOf(domain), gain]))],
    );
  }
  const renamed = [...organizations].filter(([domain, name]) => {
    const before = domains.get(domain);
    return before?.organization !== name || before.is_named !== isNamed;
  });
  if (renamed.length > 0) {
    await runner.run(
      `UPDATE lookup_domains SET organization = each.value->>1, organization_key = each.value->>2, is_named = $2
       FROM ${dialect.rows("$1")} WHERE lookup_domains.id = CAST(each.value->>0 AS bigint)`,
      [JSON.stringify(renamed.map(([domain, name]) => [idOf(domain), name, organizationKey(name)])), isNamed],
    );
  }
  return counts;
}

function* slicesOf<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let start = 0; start < items.length; start += SLICE) yield items.slice(start, start + SLICE);
}

interface KnownDomain {
  id: number;
  name: string;
  organization: string | null;
  is_named: number;
}

/** Returns domains by name, creating the missing ones. */
async function knownDomains(
  runner: SqlRunner,
  dialect: SqlDriver["dialect"],
  names: ReadonlySet<string>,
): Promise<Map<string, KnownDomain>> {
  const select = `SELECT id, name, organization, is_named FROM lookup_domains WHERE name IN ${dialect.strings("$1")}`;
  const find = async (wanted: readonly string[]) => {
    const rows = await runner.all<KnownDomain>(select, [JSON.stringify(wanted)]);
    return rows.map((domain) => [domain.name, domain] as const);
  };
  const known = new Map(await find([...names]));
  const missing = [...names].filter((name) => !known.has(name));
  if (missing.length === 0) return known;
  await runner.run(
    `INSERT INTO lookup_domains (name, total, facets, stale, revision)
     SELECT value, 0, '{}', 0, 0 FROM ${dialect.strings("$1")} AS given WHERE true ON CONFLICT DO NOTHING`,
    [JSON.stringify(missing)],
  );
  for (const [name, domain] of await find(missing)) known.set(name, domain);
  return known;
}
