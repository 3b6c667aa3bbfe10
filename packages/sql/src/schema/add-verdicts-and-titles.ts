import { titleKey } from "@outrigger/core/lookup";
import { type Kysely, sql } from "kysely";
import { DomainSummary } from "../contacts/domain-summary.ts";
import { type Facet, facetOf } from "../contacts/facets.ts";
import { unpackStoredContact } from "../contacts/packed-contact.ts";
import { byteOrder, type Kind, runAll } from "./create-tables.ts";

/** Number of contacts that are migrated at once. */
const BATCH = 2000;

/**
 * Adds the known fields, the verdict and the title of contacts to their indexes, the counts of titles, and what
 * domains accept.
 */
export async function addVerdictsAndTitles(db: Kysely<unknown>, kind: Kind): Promise<void> {
  const bytes = byteOrder(kind);
  await runAll(db, [
    sql`ALTER TABLE lookup_domains ADD COLUMN accepts_all integer`,
    sql`CREATE INDEX lookup_domains_company ON lookup_domains (organization_key, name)
      WHERE organization_key IS NOT NULL`,
    sql`ALTER TABLE lookup_contacts ADD COLUMN title text ${bytes}`,
    sql`CREATE TABLE lookup_titles (
      domain_id bigint NOT NULL,
      title text ${bytes} NOT NULL,
      facets text NOT NULL,
      PRIMARY KEY (domain_id, title)
    )`,
  ]);
  await fillIn(db, kind);
  await runAll(db, [
    sql`DROP INDEX lookup_contacts_order`,
    sql`CREATE INDEX lookup_contacts_order ON lookup_contacts (domain_id, doubt, address, facet, title)`,
    sql`CREATE INDEX lookup_contacts_title ON lookup_contacts (domain_id, title, doubt, address, facet)
      WHERE title IS NOT NULL`,
  ]);
}

interface ContactRow {
  domain_id: number;
  address: string;
  doubt: number;
  packed: string;
}

/** Reads the contacts of one domain after the other, because counts belong to domains. */
async function fillIn(db: Kysely<unknown>, kind: Kind): Promise<void> {
  const rowsOf = (list: readonly unknown[]) => {
    const json = JSON.stringify(list);
    return kind === "sqlite"
      ? sql`json_each(${json}) AS each`
      : sql`json_array_elements(${json}::json) AS each(value)`;
  };
  let last: Pick<ContactRow, "domain_id" | "doubt" | "address"> = { domain_id: -1, doubt: -1, address: "" };
  let summary = new DomainSummary(-1);
  let domainId = -1;

  async function finish(): Promise<void> {
    if (domainId === -1) return;
    await sql`UPDATE lookup_domains SET facets = ${summary.facets()} WHERE id = ${domainId}`.execute(db);
    const titles = summary.titles();
    for (let start = 0; start < titles.length; start += BATCH) {
      await sql`INSERT INTO lookup_titles (domain_id, title, facets)
        SELECT CAST(each.value->>0 AS bigint), each.value->>1, each.value->>2 FROM ${rowsOf(titles.slice(start, start + BATCH))}`.execute(
        db,
      );
    }
  }

  for (;;) {
    const { rows } = await sql<ContactRow>`SELECT domain_id, doubt, address, packed FROM lookup_contacts
      WHERE (domain_id, doubt, address) > (${last.domain_id}, ${last.doubt}, ${last.address})
      ORDER BY domain_id, doubt, address LIMIT ${BATCH}`.execute(db);
    const changed: [address: string, facet: Facet, title: string | null][] = [];
    for (const row of rows) {
      // A driver may read 64-bit numbers as text.
      const id = Number(row.domain_id);
      if (id !== domainId) {
        await finish();
        domainId = id;
        summary = new DomainSummary(id);
      }
      const contact = unpackStoredContact(row.packed);
      summary.add(contact);
      changed.push([row.address, facetOf(contact), titleKey(contact.position ?? "") || null]);
      last = row;
    }
    if (changed.length > 0) {
      await sql`UPDATE lookup_contacts SET facet = CAST(each.value->>1 AS integer), title = each.value->>2
        FROM ${rowsOf(changed)} WHERE address = each.value->>0`.execute(db);
    }
    if (rows.length < BATCH) break;
  }
  await finish();
}
