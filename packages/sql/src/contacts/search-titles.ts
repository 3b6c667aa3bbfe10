import type { ContactFilter, ContactPage } from "@outrigger/core/lookup";
import type { SqlDriver, SqlValue } from "../driver/sql-driver.ts";
import { ALL_FACETS, countAdmitted, isAdmittedSql, masksOf, maskValues, readFacetCounts } from "./facets.ts";
import { PACKED_JSON, unpackContacts } from "./packed-contact.ts";

/** How many entries of an index are compared in the time in which one match is fetched and sorted. */
const SORT_FACTOR = 4;
/** More titles than this are compared faster by looking up each contact's title among the matching ones. */
const MAX_COMPARED = 2;
/** How often a search that a write overtakes is repeated before it counts the contacts themselves. */
const MAX_TRIES = 3;

interface CountRow {
  total: number;
  stale: number;
  revision: number;
  /** A JSON array of the counts of the matching titles. */
  facets: string;
}

interface PageRow {
  revision: number;
  matching: number;
  /** A JSON array of packed contacts. */
  page: string;
}

/**
 * A page of the contacts of a domain whose title contains one of the given ones. The counts of the domain's titles
 * tell how many match. Few matches are fetched by the index of titles and sorted; many are met soon in the order of
 * the domain.
 */
export async function searchTitles(
  driver: SqlDriver,
  domain: string,
  { jobTitles = [], ...filter }: ContactFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<ContactPage> {
  if (jobTitles.length === 0) return { contacts: [], total: 0 };
  const masks = masksOf(filter);
  // Keys of titles have no wildcards.
  const subject: SqlValue[] = [domain, ...jobTitles.map((key) => `%${key}%`)];
  const maskList = masks === null ? [] : maskValues(masks);
  const values = [...subject, limit, offset, ...maskList];
  const { countText, pageText } = textsFor(jobTitles.length, maskList.length);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const counted = await driver.first<CountRow>(countText, subject);
    if (counted === undefined) return { contacts: [], total: 0 };
    const { total, stale, revision } = counted;
    if (stale === 1) break;
    const counts = readFacetCounts(counted.facets);
    const titled = countAdmitted(counts, ALL_FACETS);
    const matching = masks === null ? titled : countAdmitted(counts, masks);
    if (offset >= matching) return { contacts: [], total: matching };
    const compared = Math.min(total, (total / matching) * (offset + limit));
    const text = pageText(titled * SORT_FACTOR < compared ? "fetched" : "ordered");
    const row = await driver.first<PageRow>(text, values);
    if (row?.revision === revision) return { contacts: unpackContacts(row.page), total: matching };
  }
  const row = await driver.first<PageRow>(pageText("counted"), values);
  return { contacts: unpackContacts(row?.page ?? "[]"), total: row?.matching ?? 0 };
}

/** The statements for a number of titles. Their parameters: domain, titles; then limit, offset, and the masks. */
function textsFor(titles: number, masks: number) {
  const likes = Array.from({ length: titles }, (_, index) => `title LIKE $${2 + index}`);
  const contains = `(${likes.join(" OR ")})`;
  const page = `LIMIT $${2 + titles} OFFSET $${3 + titles}`;
  const andAdmitted = masks > 0 ? `AND ${isAdmittedSql(4 + titles, masks)}` : "";
  const isTitled = `title IN (
    SELECT title FROM lookup_titles WHERE domain_id = (SELECT id FROM lookup_domains WHERE name = $1) AND ${contains}
  )`;
  const counted = `SELECT count(*) FROM lookup_contacts WHERE domain_id = d.id AND ${contains} ${andAdmitted}`;
  const order = {
    // The sign keeps the planner from walking the domain in the order of `doubt`.
    fetched: `${isTitled} ${andAdmitted} ORDER BY +doubt, address`,
    // The function hides from the planner how rare the titles may be: it would sort all matches.
    ordered: `coalesce(${titles > MAX_COMPARED ? isTitled : contains}, false) ${andAdmitted} ORDER BY doubt, address`,
    counted: `${contains} ${andAdmitted} ORDER BY doubt, address`,
  };
  return {
    countText: `SELECT total, stale, revision, (
        SELECT '[' || coalesce(string_agg(facets, ','), '') || ']' FROM lookup_titles
        WHERE domain_id = d.id AND ${contains}
      ) AS facets FROM lookup_domains d WHERE name = $1`,
    pageText: (plan: keyof typeof order) => `
      SELECT revision, ${plan === "counted" ? `(${counted})` : "0"} AS matching, (
        SELECT ${PACKED_JSON} FROM (
          SELECT packed FROM (
            SELECT address AS found FROM lookup_contacts WHERE domain_id = d.id AND ${order[plan]} ${page}
          ) AS f JOIN lookup_contacts ON address = found ORDER BY doubt, address
        ) AS p
      ) AS page FROM lookup_domains d WHERE name = $1`,
  };
}
