import {
  type Contact,
  type ContactSource,
  compareNames,
  type DomainFacts,
  firstSurname,
  learnPatterns,
  linkedName,
  MAX_LEARNED_FROM,
  MAX_LINKED_DOMAINS,
  namedLocal,
  namesakes,
  organizationKey,
  organizationPrefix,
  organizationRank,
  type PatternCount,
  spellingKeys,
} from "@outrigger/core/lookup";
import { memoized } from "@outrigger/core/values";
import type { SqlDriver } from "../driver/sql-driver.ts";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";
import { eraseContact, eraseDomain } from "./erase-contacts.ts";
import { contactCounts, readFacetCounts } from "./facets.ts";
import { nameKey } from "./name-key.ts";
import { PACKED_JSON, unpackContact, unpackContacts } from "./packed-contact.ts";
import { readInOrder } from "./read-in-order.ts";
import { recordVerification } from "./record-verification.ts";
import { searchContacts } from "./search-contacts.ts";

/** Maximum number of contacts with one key that are compared with a name. */
const MAX_COMPARED = 200;

/**
 * Contacts in a database, stored by `importContacts` or `putContacts`. Closing the source leaves the database
 * open.
 */
export function createSqlContactSource(database: SqlDatabase): ContactSource {
  const driver = useDatabase(database);

  return {
    domain: (domain) => domainFacts(driver, domain),
    async domainOf(company, isExcluded = (_) => false) {
      const key = organizationKey(company);
      const prefix = organizationPrefix(key);
      // `}` follows `|`, so these are the names with any legal form.
      const similar = await driver.all<{ name: string; organization: string }>(
        `SELECT name, organization FROM lookup_domains WHERE organization_key >= $1 AND organization_key < $2
         ORDER BY organization_key <> $3, organization_key <> $1, total DESC, name LIMIT ${MAX_COMPARED}`,
        [prefix, prefix.replace(/\|$/, "}"), key],
      );
      const ranked = similar
        .filter(({ name }) => !isExcluded(name))
        .map((each) => ({ ...each, rank: organizationRank(each.organization, company) }));
      return ranked.sort((a, b) => a.rank - b.rank)[0]?.name ?? null;
    },
    search: (domain, filter, page) => searchContacts(driver, domain, filter, page),
    async find(address) {
      const row = await driver.first<{ packed: string }>(
        "SELECT packed FROM lookup_contacts WHERE address = $1",
        [address],
      );
      return row === undefined ? null : unpackContact(row.packed);
    },
    async findByName(domain, firstName, lastName) {
      const key = nameKey(firstName, lastName);
      if (key === null) return [];
      const known = async (condition: string, keys: readonly string[], order = "+doubt, address") => {
        // The sign keeps the planner from walking the domain in the order of `doubt`.
        const row = await driver.first<{ page: string }>(
          `SELECT ${PACKED_JSON} AS page FROM (
             SELECT packed FROM lookup_contacts
             WHERE domain_id = (SELECT id FROM lookup_domains WHERE name = $1) AND ${condition}
             ORDER BY ${order} LIMIT ${MAX_COMPARED}
           ) AS p`,
          [domain, ...keys],
        );
        return unpackContacts(row?.page ?? "[]");
      };
      const same = await known("name_key = $2", [key]);
      const exact = same.filter((contact) => isExact(contact, firstName, lastName));
      if (exact.length > 0) return namesakes(exact, firstName, lastName);
      // Compared together: several people may have a similar name.
      const [own, other = own] = spellingKeys(firstName, lastName);
      const similar =
        own === undefined || other === undefined ? [] : await known("spelling_key IN ($2, $3)", [own, other]);
      // People with a further surname: `{` follows `z`. Or without the second one.
      const longer = await known("name_key > $2 AND name_key < $3", [key, `${key}{`], "name_key");
      const shorter = nameKey(firstName, firstSurname(lastName));
      const short = shorter === null ? [] : await known("name_key = $2", [shorter]);
      const all = new Map([...same, ...similar, ...longer, ...short].map((each) => [each.address, each]));
      return namesakes([...all.values()].sort(byConfidence), firstName, lastName);
    },
    recordVerification: (address, verification, acceptsAll) =>
      recordVerification(driver, address, verification, acceptsAll),
    async count(domain, type) {
      const row = await driver.first<{ id: number; stale: number; facets: string }>(
        "SELECT id, stale, facets FROM lookup_domains WHERE name = $1",
        [domain],
      );
      if (row === undefined) return contactCounts(new Map(), type);
      if (row.stale === 0) return contactCounts(readFacetCounts(row.facets), type);
      const counted = await driver.all<{ facet: number; count: number }>(
        "SELECT facet, count(*) AS count FROM lookup_contacts WHERE domain_id = $1 GROUP BY facet",
        [row.id],
      );
      return contactCounts(new Map(counted.map(({ facet, count }) => [facet, count])), type);
    },
    erase: (address) => eraseContact(driver, address),
    eraseDomain: (domain) => eraseDomain(driver, domain),
    close: () => driver.close(),
  };
}

function byConfidence(a: Contact, b: Contact): number {
  return b.confidence - a.confidence || Buffer.compare(Buffer.from(a.address), Buffer.from(b.address));
}

function isExact(contact: Contact, firstName: string, lastName: string): boolean {
  const name = { firstName: contact.firstName ?? "", lastName: contact.lastName ?? "" };
  return compareNames(name, { firstName, lastName }) === "exact";
}

interface FactsRow {
  id: number;
  organization: string | null;
  patterns: string | null;
  accepts_all: number | null;
  /** The domains whose organisation has this key, and its name: {@link BETWEEN} them, {@link BEHIND} each. */
  linked: string | null;
  revision: number;
}

const BETWEEN = "\u001f";
const BEHIND = "\u001e";
const FACTS = `
  SELECT id, organization, patterns, accepts_all, revision, (
    SELECT string_agg(name || '${BETWEEN}' || organization, '${BEHIND}') FROM (
      SELECT name, organization FROM lookup_domains WHERE organization_key = d.organization_key AND name <> d.name
      ORDER BY name LIMIT ${MAX_COMPARED}
    ) AS l
  ) AS linked FROM lookup_domains d WHERE name = $1`;

/** Facts about a domain. Its patterns are learnt again if its contacts have changed. */
async function domainFacts(driver: SqlDriver, domain: string): Promise<DomainFacts | null> {
  const row = await driver.first<FactsRow>(FACTS, [domain]);
  if (row === undefined) return null;
  return {
    organization: row.organization,
    patterns: await patternsOf(driver, row),
    ...(row.accepts_all === null ? {} : { acceptsAll: row.accepts_all === 1 }),
    linkedDomains: linkedTo(row),
  };
}

function linkedTo({ organization, linked }: FactsRow): string[] {
  if (organization === null || linked === null) return [];
  const known = linked.split(BEHIND).map((each) => each.split(BETWEEN));
  const same = known.filter(([, name = ""]) => linkedName(name) === linkedName(organization));
  return same.slice(0, MAX_LINKED_DOMAINS).map(([domain = ""]) => domain);
}

async function patternsOf(driver: SqlDriver, row: FactsRow): Promise<PatternCount[]> {
  if (row.patterns !== null) return readPatterns(row.patterns);
  const named = [];
  for await (const contacts of readInOrder(driver, row.id)) {
    named.push(...contacts.flatMap((each) => namedLocal(each) ?? []));
    if (named.length >= MAX_LEARNED_FROM) break;
  }
  const patterns = learnPatterns(named);
  // Not stored if the domain was changed meanwhile or is stale.
  const stored = driver.run(
    "UPDATE lookup_domains SET patterns = $2 WHERE id = $1 AND revision = $3 AND stale = 0",
    [row.id, JSON.stringify(patterns), row.revision],
  );
  await stored.catch(() => undefined); // The next call learns them again.
  return patterns;
}

/** Equal texts give the same list, whose consequences are known then. The column holds only what `learnPatterns` returned. */
const readPatterns = memoized((text: string) => JSON.parse(text) as PatternCount[]);
