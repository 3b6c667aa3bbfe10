import type { SqlDriver } from "../driver/sql-driver.ts";
import { type DomainCounts, END, moveCount, moveMarks } from "./move-count.ts";

/** Factor of the time limit: erasing may have to wait for one batch of an import. */
const PATIENCE = 5;
/** Number of contacts that are erased in one transaction. */
const BATCH = 5000;

/** Erases an address and its subaddresses; see `ContactSource`. */
export async function eraseContact(driver: SqlDriver, address: string): Promise<number> {
  const at = address.lastIndexOf("@");
  const local = address.slice(0, at);
  const rows = await driver.all<{ address: string }>(
    "SELECT address FROM lookup_contacts WHERE address = $1 OR (address > $2 AND address < $3)",
    // The comma follows the plus sign in byte order.
    [address, `${local}+`, `${local},`],
  );
  let erased = 0;
  for (const each of rows) {
    const isCovered = each.address === address || each.address.endsWith(address.slice(at));
    if (isCovered && (await eraseOne(driver, each.address))) erased++;
  }
  return erased;
}

/** Updates the counts and marks of the domain in the same transaction. */
export async function eraseOne(driver: SqlDriver, address: string): Promise<boolean> {
  return await driver.write(
    async (runner) => {
      const known = await runner.first<ErasedRow>(
        `SELECT c.domain_id, c.doubt, c.facet, c.title, d.total, d.stale, d.facets, d.organization
         FROM lookup_contacts c JOIN lookup_domains d ON d.id = c.domain_id WHERE c.address = $1`,
        [address],
      );
      if (known === undefined) return false;
      const { domain_id: domainId, doubt, facet, total, organization } = known;
      // Read anew, a page shows who is on it; its digest was made of erased data.
      await runner.run(
        `UPDATE lookup_pages SET etag = NULL, modified = NULL, digest = NULL
         WHERE seq IN (SELECT page FROM lookup_page_addresses WHERE address = $1)`,
        [address],
      );
      for (const table of ["lookup_contacts", "lookup_page_addresses"]) {
        await runner.run(`DELETE FROM ${table} WHERE address = $1`, [address]);
      }
      if (total === 1) await runner.run("DELETE FROM lookup_marks WHERE domain_id = $1", [domainId]);
      const facets = await moveCount(runner, known, facet, null);
      if (total === 1 && organization === null) {
        await runner.run("DELETE FROM lookup_domains WHERE id = $1", [domainId]);
        return true;
      }
      await runner.run(
        `UPDATE lookup_domains SET total = total - 1, facets = $2, patterns = NULL, revision = revision + 1 WHERE id = $1`,
        [domainId, facets],
      );
      await moveMarks(runner, domainId, { doubt, address }, END, -1);
      return true;
    },
    { isAlone: true, isErasure: true, timeoutMs: driver.timeoutMs * PATIENCE },
  );
}

/** Erases a domain and its subdomains; see `ContactSource`. */
export async function eraseDomain(driver: SqlDriver, domain: string): Promise<number> {
  let erased = 0;
  for (const name of await coveredIn(driver, "lookup_domains", domain))
    erased += await eraseOneDomain(driver, name);
  for (const name of await coveredIn(driver, "lookup_page_domains", domain)) {
    await driver.write(
      async (runner) => {
        // In the order of the frontier, so that no two transactions wait for each other.
        await runner.run("DELETE FROM lookup_page_domains WHERE name = $1", [name]);
        await runner.run("DELETE FROM lookup_pages WHERE domain = $1", [name]);
      },
      { isErasure: true, timeoutMs: driver.timeoutMs * PATIENCE },
    );
  }
  return erased;
}

async function coveredIn(driver: SqlDriver, table: string, domain: string): Promise<string[]> {
  const rows = await driver.all<{ name: string }>(
    `SELECT name FROM ${table} WHERE name = $1 OR name LIKE '%.' || $1`,
    [domain],
  );
  // An underscore in a pattern matches any character.
  return rows.map(({ name }) => name).filter((name) => name === domain || name.endsWith(`.${domain}`));
}

/** A large domain is erased in several transactions. */
async function eraseOneDomain(driver: SqlDriver, domain: string): Promise<number> {
  let sum = 0;
  for (;;) {
    const isLeft = await driver.write(
      async (runner) => {
        const known = await runner.first<{ id: number }>("SELECT id FROM lookup_domains WHERE name = $1", [
          domain,
        ]);
        if (known === undefined) return false;
        let erased = 0;
        for (const table of ["lookup_page_addresses", "lookup_contacts"]) {
          erased = await runner.run(
            `DELETE FROM ${table} WHERE address IN (
               SELECT address FROM lookup_contacts WHERE domain_id = $1 ORDER BY doubt, address LIMIT ${BATCH}
             )`,
            [known.id],
          );
        }
        await runner.run("DELETE FROM lookup_marks WHERE domain_id = $1", [known.id]);
        await runner.run("DELETE FROM lookup_titles WHERE domain_id = $1", [known.id]);
        sum += erased;
        if (erased < BATCH) {
          await runner.run("DELETE FROM lookup_domains WHERE id = $1", [known.id]);
          sum++;
          return false;
        }
        await runner.run(
          `UPDATE lookup_domains SET total = total - $2, stale = 1, patterns = NULL, organization = NULL,
             organization_key = NULL, revision = revision + 1 WHERE id = $1`,
          [known.id, erased],
        );
        return true;
      },
      { isAlone: true, isErasure: true, timeoutMs: driver.timeoutMs * PATIENCE },
    );
    if (!isLeft) return sum;
  }
}

interface ErasedRow extends DomainCounts {
  doubt: number;
  facet: number;
  total: number;
  organization: string | null;
}
