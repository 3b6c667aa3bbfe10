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

/** Position of a contact in the order of its domain. */
export interface SortPosition {
  doubt: number;
  address: string;
}

/** Beyond all contacts. */
export const END: SortPosition = { doubt: 1000, address: "" };

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
  if (title !== null) {
    const row = await runner.first<{ facets: string }>(
      "SELECT facets FROM lookup_titles WHERE domain_id = $1 AND title = $2",
      [domainId, title],
    );
    const moved = isStale || row === undefined ? "{}" : movedCounts(row.facets, from, to);
    // Nothing of an erased contact stays; stale counts are rebuilt anyway.
    if (moved === "{}" && to === null) {
      await runner.run("DELETE FROM lookup_titles WHERE domain_id = $1 AND title = $2", [domainId, title]);
    } else if (!isStale) {
      await runner.run("UPDATE lookup_titles SET facets = $3 WHERE domain_id = $1 AND title = $2", [
        ...[domainId, title],
        moved,
      ]);
    }
  }
  return isStale ? facets : movedCounts(facets, from, to);
}

function movedCounts(facets: string, from: Facet, to: Facet | null): string {
  const counts = readFacetCounts(facets);
  const left = (counts.get(from) ?? 0) - 1;
  if (left > 0) counts.set(from, left);
  else counts.delete(from);
  if (to !== null) counts.set(to, (counts.get(to) ?? 0) + 1);
  return writeFacetCounts(counts);
}

/**
 * Adjusts the marks behind `after` up to `upTo`, when a contact before them left or joined the order. A mark holds
 * the number of contacts before it, so a mark at the contact itself stays right.
 */
export async function moveMarks(
  runner: SqlRunner,
  domainId: number,
  after: SortPosition,
  upTo: SortPosition,
  by: 1 | -1,
): Promise<void> {
  await runner.run(
    `UPDATE lookup_marks SET position = position + $6
     WHERE domain_id = $1 AND (doubt, address) > ($2, $3) AND (doubt, address) <= ($4, $5)`,
    [domainId, after.doubt, after.address, upTo.doubt, upTo.address, by],
  );
}
