import pg from "pg";
import { expect, test } from "vitest";
import { personOf } from "../../../testing/src/contact-source/samples.ts";
import { onEachDatabase } from "../../test/each-database.ts";
import { onPrimary } from "../driver/postgres-driver.ts";
import { useDatabase } from "../sql-database.ts";
import { putContacts } from "./put-contacts.ts";
import { createSqlContactSource } from "./sql-contact-source.ts";

const DOMAIN = "large.example";
const CONTACTS = 20_000;
/** Statements that visit a part of the index of one domain, never its contacts: pages with a filter. */
const READS_INDEX = /isAdmitted|1 << \(facet/;

onEachDatabase(({ kind, createUrl, open }) => {
  test("no query for one answer walks all contacts of a domain", async () => {
    const url = await createUrl();
    const database = open(url);
    await putContacts(
      database,
      Array.from({ length: CONTACTS }, (_, index) => ({
        ...personOf(DOMAIN, `p${index}`, "Ada", inLetters(index)),
        position: index % 200 === 0 ? "CTO" : `Manager ${index % 100}`,
      })),
      { organizations: { [DOMAIN]: "Large", "other.example": "Large" } },
    );
    const driver = await useDatabase(database).ready();
    if (kind === "postgres") await driver.run("ANALYZE");
    const asked: { text: string; values: readonly (string | number | null)[] }[] = [];
    const [all, first] = [driver.all.bind(driver), driver.first.bind(driver)];
    driver.all = (text, values = []) => {
      asked.push({ text, values });
      return all(text, values);
    };
    driver.first = (text, values = []) => {
      asked.push({ text, values });
      return first(text, values);
    };
    const source = createSqlContactSource(database);
    await source.domain(DOMAIN);
    asked.length = 0; // The patterns are learnt from all contacts, once after each change.
    await source.domain(DOMAIN);
    await source.domainOf("Large");
    await source.domainOf("Unknown GmbH");
    await source.find(`p7@${DOMAIN}`);
    expect(await source.findByName(DOMAIN, "Ada", inLetters(777))).toHaveLength(1);
    for (const unknown of ["Zuse", "Иванова", "الخطيب"]) {
      expect(await source.findByName(DOMAIN, "Ada", unknown)).toEqual([]);
    }
    await source.count(DOMAIN, "personal");
    for (const offset of [0, 10, CONTACTS / 2, CONTACTS - 5, CONTACTS + 5]) {
      await source.search(DOMAIN, {}, { limit: 10, offset });
    }
    const titles = { rare: [" cto "], common: [" manager "], many: [" cto ", " manager 1 ", " manager 2 "] };
    for (const jobTitles of Object.values(titles)) {
      const found = await source.search(DOMAIN, { jobTitles }, { limit: 10, offset: 0 });
      expect(found.contacts).toHaveLength(10);
    }
    await source.recordVerification?.(`p7@${DOMAIN}`, { status: "valid", date: "2026-05-04" }, null);
    expect(asked.length).toBeGreaterThanOrEqual(18);
    const client = new pg.Client(url);
    if (kind === "postgres") await client.connect();
    for (const { text, values } of asked) {
      if (READS_INDEX.test(text)) continue;
      expect(await rowsVisited(text, values), text).toBeLessThan(500);
    }
    if (kind === "postgres") await client.end();

    /** The contacts that a statement reads, or more: a bound from the plan. */
    async function rowsVisited(text: string, values: readonly (string | number | null)[]): Promise<number> {
      if (kind === "postgres") {
        const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${onPrimary(text)}`, [...values]);
        return Math.max(...nodesOf(rows[0]?.["QUERY PLAN"] ?? []).map(readRows));
      }
      const plan = await all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, values);
      const details = plan.map(({ detail }) => detail);
      // A page walks the index in its order and stops; a search by name must not.
      if (details.some((each) => /SCAN lookup_(contacts|domains)/.test(each))) return CONTACTS;
      const isPage = /ORDER BY doubt, address LIMIT \$/.test(text);
      const isSorted = /ORDER BY \+?doubt/.test(text) && !isPage;
      return isSorted && details.some((each) => each.includes("lookup_contacts_order")) ? CONTACTS : 0;
    }
  });
});

/** Names keep no digits. */
function inLetters(index: number): string {
  return [...String(index)].map((digit) => "bcdfghjklm"[Number(digit)]).join("a");
}

interface PlanNode {
  "Actual Rows"?: number;
  "Actual Loops"?: number;
  "Rows Removed by Filter"?: number;
  Plans?: PlanNode[];
  Plan?: PlanNode;
}

function nodesOf(plans: readonly PlanNode[]): PlanNode[] {
  return plans.flatMap((node) => [
    node,
    ...nodesOf([...(node.Plans ?? []), ...(node.Plan ? [node.Plan] : [])]),
  ]);
}

function readRows(node: PlanNode): number {
  const rows = (node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0);
  return rows * (node["Actual Loops"] ?? 1);
}
