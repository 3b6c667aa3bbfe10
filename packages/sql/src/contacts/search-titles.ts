import type { ContactFilter, ContactPage } from "@outrigger/core";
import type { SqlDriver, SqlValue } from "../driver/sql-driver.ts";
import { ALL_FACETS, isAdmittedSql, masksOf, maskValues } from "./facets.ts";
import { PACKED_JSON, unpackContacts } from "./packed-contact.ts";

/** Domain, four masks, titles, limit and offset are the parameters; the numbers of the last depend on the titles. */
const FIRST_MASK = 2;
const FIRST_TITLE = 6;
const ADMITTED = isAdmittedSql(FIRST_MASK);
/** How many entries of an index are compared in the time in which one match is fetched and sorted. */
const SORT_FACTOR = 4;
/** How often a search that a write overtakes is repeated before it counts the contacts themselves. */
const MAX_TRIES = 3;

interface CountRow {
  total: number;
  stale: number;
  revision: number;
  matching: number;
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
  const masks = masksOf(filter) ?? ALL_FACETS;
  // Keys of titles have no wildcards.
  const values: SqlValue[] = [domain, ...maskValues(masks), ...jobTitles.map((key) => `%${key}%`)];
  if (jobTitles.length === 0) return { contacts: [], total: 0 };
  const { countText, pageText } = textsFor(jobTitles.length);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const counted = await driver.first<CountRow>(countText, values);
    if (counted === undefined) return { contacts: [], total: 0 };
    if (counted.stale === 1) break;
    const { total, matching, revision } = counted;
    if (offset >= matching) return { contacts: [], total: matching };
    const compared = Math.min(total, (total / matching) * (offset + limit));
    const text = pageText(matching * SORT_FACTOR < compared ? "fetched" : "ordered");
    const row = await driver.first<PageRow>(text, [...values, limit, offset]);
    if (row?.revision === revision) return { contacts: unpackContacts(row.page), total: matching };
  }
  const row = await driver.first<PageRow>(pageText("counted"), [...values, limit, offset]);
  return { contacts: unpackContacts(row?.page ?? "[]"), total: row?.matching ?? 0 };
}

/** The statements for a number of titles. */
function textsFor(titles: number) {
  const likes = Array.from({ length: titles }, (_, index) => `title LIKE $${FIRST_TITLE + index}`);
  const contains = `(${likes.join(" OR ")})`;
  const page = `LIMIT $${FIRST_TITLE + titles} OFFSET $${FIRST_TITLE + titles + 1}`;
  const inOrder = `${contains} AND ${ADMITTED} ORDER BY doubt, address`;
  // The sign keeps the planner from walking the domain in the order of `doubt`.
  const fetched = `title IN (SELECT title FROM lookup_titles WHERE domain_id = d.id AND ${contains})
    AND ${ADMITTED} ORDER BY +doubt, address`;
  const counted = `SELECT count(*) FROM lookup_contacts WHERE domain_id = d.id AND ${contains} AND ${ADMITTED}`;
  return {
    countText: `SELECT total, stale, revision, (
        SELECT coalesce(sum(count), 0) FROM lookup_titles WHERE domain_id = d.id AND ${contains} AND ${ADMITTED}
      ) AS matching FROM lookup_domains d WHERE name = $1`,
    pageText: (plan: "ordered" | "fetched" | "counted") => `
      SELECT revision, ${plan === "counted" ? `(${counted})` : "0"} AS matching, (
        SELECT ${PACKED_JSON} FROM (
          SELECT packed FROM (
            SELECT address AS found FROM lookup_contacts
            WHERE domain_id = d.id AND ${plan === "fetched" ? fetched : inOrder} ${page}
          ) AS f JOIN lookup_contacts ON address = found ORDER BY doubt, address
        ) AS p
      ) AS page FROM lookup_domains d WHERE name = $1`,
  };
}
