import type { SqlRunner } from "../driver/sql-driver.ts";
import { type Facet, readFacetCounts, writeFacetCounts } from "./facets.ts";

/** The title of a contact, and the counts of its domain. */
export interface DomainCounts {
  domain_id: number;
  /** Key of the contact's title; `null` without one. */
  title: string | null;
  /** 1 if the counts do not match the contacts. */
  stale: number;
  facets: string;
}

/**
 * Counts a contact by another facet, or no longer. Writes the counts of its title.
 * @param to `null`: the contact is erased.
 * @returns the domain's counts, for the caller to write.
 */
export async function moveCount(
  runner: SqlRunner,
  { domain_id: domainId, title, stale, facets }: DomainCounts,
  from: Facet,
  to: Facet | null,
): Promise<string> {
  const isStale = stale === 1;
  if (title !== null && isStale && to === null) {
    // Nothing of an erased contact stays, and stale counts are rebuilt anyway.
    await runner.run("DELETE FROM lookup_titles WHERE domain_id = $1 AND title = $2", [domainId, title]);
  }
  if (isStale) return facets;
  if (title !== null) {
    await runner.run(
      "UPDATE lookup_titles SET count = count - 1 WHERE domain_id = $1 AND title = $2 AND facet = $3",
      [domainId, title, from],
    );
    await runner.run("DELETE FROM lookup_titles WHERE domain_id = $1 AND title = $2 AND count <= 0", [
      domainId,
      title,
    ]);
    if (to !== null) {
      await runner.run(
        `INSERT INTO lookup_titles (domain_id, title, facet, count) VALUES ($1, $2, $3, 1)
         ON CONFLICT (domain_id, title, facet) DO UPDATE SET count = lookup_titles.count + 1`,
        [domainId, title, to],
      );
    }
  }
  const counts = readFacetCounts(facets);
  const left = (counts.get(from) ?? 0) - 1;
  if (left > 0) counts.set(from, left);
  else counts.delete(from);
  if (to !== null) counts.set(to, (counts.get(to) ?? 0) + 1);
  return writeFacetCounts(counts);
}

/**
 * Adjusts the marks of a domain to a contact that was removed from the order (-1) or inserted (1). A mark holds the
 * number of contacts before it, so a mark at the contact itself stays right.
 */
export async function moveMarks(
  runner: SqlRunner,
  domainId: number,
  { doubt, address }: { doubt: number; address: string },
  by: 1 | -1,
): Promise<void> {
  await runner.run(
    "UPDATE lookup_marks SET position = position + $4 WHERE domain_id = $1 AND (doubt, address) > ($2, $3)",
    [domainId, doubt, address, by],
  );
}
