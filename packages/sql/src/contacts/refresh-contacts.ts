import { organizationKey } from "@outrigger/core/lookup";
import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";
import { DomainSummary } from "./domain-summary.ts";
import { NUMBERED_JSON, unpackNumbered } from "./packed-contact.ts";
import { readInOrder } from "./read-in-order.ts";

/** Maximum number of stale domains, and of contacts, that are read at once. */
const MAX_DOMAINS = 1000;
const MAX_CONTACTS = 4000;
const REFRESH_MS = 60_000;

/**
 * Rebuilds the counts, marks, patterns and organisations of domains that a killed import left stale. A completed import does this
 * itself. Until then all answers are correct, but slower for large domains.
 *
 * @returns the number of refreshed domains.
 */
export async function refreshContacts(database: SqlDatabase): Promise<number> {
  return await refreshDomains(useDatabase(database));
}

export async function refreshDomains(driver: SqlDriver, signal?: AbortSignal): Promise<number> {
  let count = 0;
  for (;;) {
    signal?.throwIfAborted();
    const refreshed = await driver.write((runner) => refreshSome(runner, driver), {
      isAlone: true,
      timeoutMs: REFRESH_MS,
    });
    if (refreshed === 0) return count;
    count += refreshed;
  }
}

interface StaleDomain {
  id: number;
  total: number;
}

async function refreshSome(runner: SqlRunner, { dialect }: SqlDriver): Promise<number> {
  const stale = await runner.all<StaleDomain>(
    `SELECT id, total FROM lookup_domains WHERE stale = 1 ORDER BY id LIMIT ${MAX_DOMAINS}`,
  );
  const [first] = stale;
  if (first === undefined) return 0;
  const summaries = new Map<number, DomainSummary>();
  if (first.total > MAX_CONTACTS) {
    const summary = new DomainSummary(first.id);
    summaries.set(first.id, summary);
    for await (const contacts of readInOrder(runner, first.id)) {
      for (const contact of contacts) summary.add(contact);
    }
  } else {
    for (const { id } of several(stale)) summaries.set(id, new DomainSummary(id));
    const row = await runner.first<{ all_contacts: string }>(
      `SELECT ${NUMBERED_JSON} AS all_contacts FROM (
         SELECT domain_id, packed FROM lookup_contacts
         WHERE domain_id IN (SELECT CAST(given.value AS bigint) FROM ${dialect.strings("$1")} AS given)
         ORDER BY domain_id, doubt, address
       ) AS p`,
      [JSON.stringify([...summaries.keys()])],
    );
    for (const { domainId, contact } of unpackNumbered(row?.all_contacts ?? "[]")) {
      summaries.get(domainId)?.add(contact);
    }
  }
  await writeSummaries(runner, dialect, summaries);
  return summaries.size;
}

/** The first domains whose contacts together can be read at once. */
function several(stale: readonly StaleDomain[]): StaleDomain[] {
  let contacts = 0;
  const tooMany = stale.findIndex(({ total }) => {
    contacts += total;
    return contacts > MAX_CONTACTS;
  });
  return stale.slice(0, tooMany === -1 ? stale.length : tooMany);
}

async function writeSummaries(
  runner: SqlRunner,
  dialect: SqlDriver["dialect"],
  summaries: ReadonlyMap<number, DomainSummary>,
): Promise<void> {
  for (const table of ["lookup_marks", "lookup_titles"]) {
    await runner.run(
      `DELETE FROM ${table} WHERE domain_id IN (SELECT CAST(given.value AS bigint) FROM ${dialect.strings("$1")} AS given)`,
      [JSON.stringify([...summaries.keys()])],
    );
  }
  const marks = [...summaries.values()].flatMap((summary) => summary.marks);
  if (marks.length > 0) {
    await runner.run(
      `INSERT INTO lookup_marks (domain_id, position, doubt, address)
       SELECT CAST(each.value->>0 AS bigint), CAST(each.value->>1 AS integer), CAST(each.value->>2 AS integer),
         each.value->>3 FROM ${dialect.rows("$1")}`,
      [JSON.stringify(marks)],
    );
  }
  const titles = [...summaries.values()].flatMap((summary) => summary.titles());
  if (titles.length > 0) {
    await runner.run(
      `INSERT INTO lookup_titles (domain_id, title, facets)
       SELECT CAST(each.value->>0 AS bigint), each.value->>1, each.value->>2 FROM ${dialect.rows("$1")}`,
      [JSON.stringify(titles)],
    );
  }
  const rows = [...summaries].map(([id, summary]) => {
    const name = summary.organization();
    const key = name === null ? null : organizationKey(name);
    return [id, summary.facets(), JSON.stringify(summary.patterns()), name, key];
  });
  await runner.run(
    `UPDATE lookup_domains SET facets = each.value->>1, patterns = each.value->>2, stale = 0, revision = revision + 1,
       organization = coalesce(CASE is_named WHEN 0 THEN each.value->>3 END, organization),
       organization_key = coalesce(CASE is_named WHEN 0 THEN each.value->>4 END, organization_key)
     FROM ${dialect.rows("$1")} WHERE lookup_domains.id = CAST(each.value->>0 AS bigint)`,
    [JSON.stringify(rows)],
  );
}
