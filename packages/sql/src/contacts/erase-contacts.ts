import type { SqlDriver } from "../driver/sql-driver.ts";
import { readFacetCounts, writeFacetCounts } from "./facets.ts";

/** Factor of the time limit: erasing may have to wait for one batch of an import. */
const PATIENCE = 5;
/** Number of contacts that are erased in one transaction. */
const BATCH = 5000;

/**
 * Erases an address; see `ContactSource`. Updates the counts and marks of its domain in the same transaction.
 */
export async function eraseContact(driver: SqlDriver, address: string): Promise<boolean> {
  return await driver.write(
    async (runner) => {
      const known = await runner.first<ErasedRow>(
        `SELECT c.domain_id, c.doubt, c.facet, d.total, d.stale, d.facets, d.organization
         FROM lookup_contacts c JOIN lookup_domains d ON d.id = c.domain_id WHERE c.address = $1`,
        [address],
      );
      if (known === undefined) return false;
      const { domain_id: domainId, doubt, facet, total, stale, facets, organization } = known;
      await runner.run("DELETE FROM lookup_contacts WHERE address = $1", [address]);
      if (total === 1) await runner.run("DELETE FROM lookup_marks WHERE domain_id = $1", [domainId]);
      if (total === 1 && organization === null) {
        await runner.run("DELETE FROM lookup_domains WHERE id = $1", [domainId]);
        return true;
      }
      await runner.run(
        `UPDATE lookup_domains SET total = total - 1, facets = $2, patterns = NULL, revision = revision + 1 WHERE id = $1`,
        [domainId, stale === 1 ? facets : withoutOne(facets, facet)],
      );
      // A mark holds the number of contacts before it. A mark at the erased address remains valid for the
      // next contact.
      await runner.run(
        "UPDATE lookup_marks SET position = position - 1 WHERE domain_id = $1 AND (doubt, address) > ($2, $3)",
        [domainId, doubt, address],
      );
      return true;
    },
    { isAlone: true, timeoutMs: driver.timeoutMs * PATIENCE },
  );
}

/** Erases a domain and its addresses; see `ContactSource`. A large domain is erased in several transactions. */
export async function eraseDomain(driver: SqlDriver, domain: string): Promise<boolean> {
  let wasKnown = false;
  for (;;) {
    const isLeft = await driver.write(
      async (runner) => {
        const known = await runner.first<{ id: number }>("SELECT id FROM lookup_domains WHERE name = $1", [
          domain,
        ]);
        if (known === undefined) return false;
        wasKnown = true;
        const erased = await runner.run(
          `DELETE FROM lookup_contacts WHERE address IN (
             SELECT address FROM lookup_contacts WHERE domain_id = $1 ORDER BY doubt, address LIMIT ${BATCH}
           )`,
          [known.id],
        );
        await runner.run("DELETE FROM lookup_marks WHERE domain_id = $1", [known.id]);
        if (erased < BATCH) {
          await runner.run("DELETE FROM lookup_domains WHERE id = $1", [known.id]);
          return false;
        }
        await runner.run(
          `UPDATE lookup_domains SET total = total - $2, stale = 1, patterns = NULL, organization = NULL,
             organization_key = NULL, revision = revision + 1 WHERE id = $1`,
          [known.id, erased],
        );
        return true;
      },
      { isAlone: true, timeoutMs: driver.timeoutMs * PATIENCE },
    );
    if (!isLeft) return wasKnown;
  }
}

interface ErasedRow {
  domain_id: number;
  doubt: number;
  facet: number;
  total: number;
  stale: number;
  facets: string;
  organization: string | null;
}

function withoutOne(facets: string, facet: number): string {
  const counts = readFacetCounts(facets);
  const left = (counts.get(facet) ?? 0) - 1;
  if (left > 0) counts.set(facet, left);
  else counts.delete(facet);
  return writeFacetCounts(counts);
}
