import type { ContactVerification } from "@outrigger/core/lookup";
import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";
import { facetOf } from "./facets.ts";
import { confidenceOf } from "./merge-contact.ts";
import { type DomainCounts, moveCount, moveMarks } from "./move-count.ts";
import { packContact, type StoredContact, unpackStoredContact } from "./packed-contact.ts";
import { doubtOf } from "./read-in-order.ts";

interface KnownRow extends DomainCounts {
  accepts_all: number | null;
  doubt: number;
  facet: number;
  packed: string | null;
}

/** The contact is `null` if only its domain is known. */
const KNOWN = `
  SELECT d.id AS domain_id, d.accepts_all, d.stale, d.facets, c.doubt, c.facet, c.title, c.packed
  FROM lookup_domains d LEFT JOIN lookup_contacts c ON c.address = $1 WHERE d.name = $2`;

/** Stores a verdict; see `ContactSource`. Nothing is written if nothing changed. */
export async function recordVerification(
  driver: SqlDriver,
  address: string,
  verification: ContactVerification,
  acceptsAll: boolean | null,
): Promise<void> {
  const keys = [address, address.slice(address.lastIndexOf("@") + 1)];
  const news = acceptsAll === null ? null : Number(acceptsAll);
  const seen = await driver.first<KnownRow>(KNOWN, keys);
  if (seen === undefined || !isNews(seen, verification, news)) return;
  await driver.write(
    async (runner) => {
      const known = await runner.first<KnownRow>(KNOWN, keys);
      if (known === undefined) return;
      if (news !== null && known.accepts_all !== news) {
        await runner.run("UPDATE lookup_domains SET accepts_all = $2 WHERE id = $1", [known.domain_id, news]);
      }
      const contact = storedOf(known);
      if (contact !== null && isNewVerdict(contact, verification)) {
        const confidence = contact.isConfidenceGiven
          ? contact.confidence
          : confidenceOf(contact.evidence, Date.now(), verification);
        await replace(runner, known, { ...contact, confidence, verification });
      }
    },
    { isAlone: true },
  );
}

async function replace(runner: SqlRunner, known: KnownRow, contact: StoredContact): Promise<void> {
  const { address } = contact;
  const doubt = doubtOf(contact);
  const facet = facetOf(contact);
  await runner.run("UPDATE lookup_contacts SET doubt = $2, facet = $3, packed = $4 WHERE address = $1", [
    address,
    doubt,
    facet,
    packContact(contact),
  ]);
  if (facet !== known.facet) {
    const facets = await moveCount(runner, known, known.facet, facet);
    // A verified address counts more in the patterns.
    await runner.run(
      "UPDATE lookup_domains SET facets = $2, patterns = NULL, revision = revision + 1 WHERE id = $1",
      [known.domain_id, facets],
    );
  }
  const before = { doubt: known.doubt, address };
  const after = { doubt, address };
  if (doubt > known.doubt) await moveMarks(runner, known.domain_id, before, after, -1);
  if (doubt < known.doubt) await moveMarks(runner, known.domain_id, after, before, 1);
}

function isNews(known: KnownRow, verification: ContactVerification, acceptsAll: number | null): boolean {
  const contact = storedOf(known);
  const isNewDomain = acceptsAll !== null && known.accepts_all !== acceptsAll;
  return isNewDomain || (contact !== null && isNewVerdict(contact, verification));
}

function isNewVerdict(
  { verification: known }: StoredContact,
  { status, date }: ContactVerification,
): boolean {
  return known?.status !== status || known.date !== date;
}

function storedOf({ packed }: KnownRow): StoredContact | null {
  return packed === null ? null : unpackStoredContact(packed);
}
