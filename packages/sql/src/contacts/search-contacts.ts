import type { ContactFilter, ContactPage } from "@outrigger/core/lookup";
import type { SqlDriver } from "../driver/sql-driver.ts";
import { ALL_FACETS, countAdmitted, isAdmittedSql, masksOf, maskValues, readFacetCounts } from "./facets.ts";
import { PACKED_JSON, unpackContacts } from "./packed-contact.ts";
import { searchTitles } from "./search-titles.ts";

interface PageRow {
  total: number;
  /** 1 if `facets` and the marks do not match the contacts. */
  stale: number;
  facets: string;
  /** A JSON array of packed contacts. */
  page: string;
}

/** Larger than any number of contacts, and within the integer range of both databases. */
const MAX_OFFSET = 2_000_000_000;

const FIRST_PAGE = `
  SELECT total, stale, facets, (
    SELECT ${PACKED_JSON} FROM (
      SELECT packed FROM lookup_contacts WHERE domain_id = d.id ORDER BY doubt, address LIMIT $2
    ) AS p
  ) AS page FROM lookup_domains d WHERE name = $1`;

/** Starts at the last mark before the offset and skips the few contacts between. */
const LATER_PAGE = `
  WITH d AS (SELECT id, total, stale, facets FROM lookup_domains WHERE name = $1), m AS (
    SELECT position, doubt, address FROM lookup_marks
    WHERE domain_id = (SELECT id FROM d) AND position <= $3 ORDER BY position DESC LIMIT 1
  )
  SELECT total, stale, facets, (
    SELECT ${PACKED_JSON} FROM (
      SELECT packed FROM lookup_contacts
      WHERE domain_id = (SELECT id FROM d)
        AND (doubt, address) >= (coalesce((SELECT doubt FROM m), -1), coalesce((SELECT address FROM m), ''))
      ORDER BY doubt, address LIMIT $2 OFFSET $3 - coalesce((SELECT position FROM m), 0)
    ) AS p
  ) AS page FROM d`;

/** Scans only the index until the page is complete. */
function filteredPage(total: string, isAdmitted: string): string {
  return `
  SELECT ${total} AS total, stale, facets, (
    SELECT ${PACKED_JSON} FROM (
      SELECT packed FROM (
        SELECT address AS found FROM lookup_contacts
        WHERE domain_id = d.id AND ${isAdmitted} ORDER BY doubt, address LIMIT $2 OFFSET $3
      ) AS f JOIN lookup_contacts ON address = found ORDER BY doubt, address
    ) AS p
  ) AS page FROM lookup_domains d WHERE name = $1`;
}

/** The statements for a number of masks. */
function textsFor(masks: number) {
  const isAdmitted = isAdmittedSql(4, masks);
  const count = `(SELECT count(*) FROM lookup_contacts WHERE domain_id = d.id AND ${isAdmitted})`;
  return { filteredPage: filteredPage("total", isAdmitted), countedPage: filteredPage(count, isAdmitted) };
}

const [OF_TWO, OF_FOUR] = [textsFor(2), textsFor(4)];

/**
 * A page of a domain; see `ContactSource`. Each answer comes from one statement, so its numbers are
 * consistent.
 */
export async function searchContacts(
  driver: SqlDriver,
  domain: string,
  filter: ContactFilter,
  page: { limit: number; offset: number },
): Promise<ContactPage> {
  const { limit } = page;
  const offset = Math.min(page.offset, MAX_OFFSET);
  if (filter.jobTitles !== undefined) return searchTitles(driver, domain, filter, { limit, offset });
  const masks = masksOf(filter);
  const values = maskValues(masks ?? ALL_FACETS);
  const texts = values.length === 2 ? OF_TWO : OF_FOUR;
  if (masks === null && offset === 0) {
    // The index gives the order, and every write updates the total: both are always correct.
    const row = await driver.first<PageRow>(FIRST_PAGE, [domain, limit]);
    return pageOf(row, row?.total);
  }
  const row =
    masks === null
      ? await driver.first<PageRow>(LATER_PAGE, [domain, limit, offset])
      : await driver.first<PageRow>(texts.filteredPage, [domain, limit, offset, ...values]);
  if (row?.stale === 1) {
    const counted = await driver.first<PageRow>(texts.countedPage, [domain, limit, offset, ...values]);
    return pageOf(counted, counted?.total);
  }
  if (row === undefined || masks === null) return pageOf(row, row?.total);
  return pageOf(row, countAdmitted(readFacetCounts(row.facets), masks));
}

function pageOf(row: PageRow | undefined, total = 0): ContactPage {
  return { contacts: row === undefined ? [] : unpackContacts(row.page), total };
}
