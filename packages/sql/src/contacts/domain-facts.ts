import { type DomainFacts, learnPatterns, type PatternCount } from "@outrigger/core";
import type { SqlDriver } from "../driver/sql-driver.ts";
import { namedLocal } from "./domain-summary.ts";
import { readInOrder } from "./read-in-order.ts";

interface FactsRow {
  id: number;
  organization: string | null;
  patterns: string | null;
  revision: number;
}

/** What is known of a domain; its patterns are learnt again where something has changed. */
export async function domainFacts(driver: SqlDriver, domain: string): Promise<DomainFacts | null> {
  const row = await driver.first<FactsRow>(
    "SELECT id, organization, patterns, revision FROM lookup_domains WHERE name = $1",
    [domain],
  );
  return row === undefined
    ? null
    : { organization: row.organization, patterns: await patternsOf(driver, row) };
}

async function patternsOf(driver: SqlDriver, row: FactsRow): Promise<PatternCount[]> {
  // Nothing but `learnPatterns` makes what is in the column.
  if (row.patterns !== null) return JSON.parse(row.patterns) as PatternCount[];
  const named = [];
  for await (const contacts of readInOrder(driver, row.id)) named.push(...contacts.map(namedLocal));
  const patterns = learnPatterns(named.filter((each) => each !== null));
  // Unless somebody has changed the domain meanwhile, or is about to.
  const stored = driver.run(
    "UPDATE lookup_domains SET patterns = $2 WHERE id = $1 AND revision = $3 AND stale = 0",
    [row.id, JSON.stringify(patterns), row.revision],
  );
  await stored.catch(() => undefined); // What could not be kept is learnt again the next time.
  return patterns;
}
