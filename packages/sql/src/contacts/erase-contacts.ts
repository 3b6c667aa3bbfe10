import type { Contact } from "@outrigger/core/lookup";
import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";
import { type DomainCounts, END, moveCount, moveMarks } from "./move-count.ts";
import { unpackContact } from "./packed-contact.ts";

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
        `SELECT c.domain_id, c.doubt, c.facet, c.title, c.packed, d.total, d.stale, d.facets, d.organization
         FROM lookup_contacts c JOIN lookup_domains d ON d.id = c.domain_id WHERE c.address = $1`,
        [address],
      );
      if (known === undefined) return false;
      const { domain_id: domainId, doubt, facet, total, organization } = known;
      await removePagesOf(runner, unpackContact(known.packed));
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

/** Removes the pages that showed no one else and whose URL names the person. */
async function removePagesOf(runner: SqlRunner, contact: Contact): Promise<void> {
  const rows = await runner.all<{ seq: number; domain: string; url: string; uri: string }>(
    `SELECT p.seq, p.domain, p.url, p.uri FROM lookup_pages p JOIN lookup_page_addresses a ON a.page = p.seq
     WHERE a.address = $1 AND p.rank > 0 AND NOT EXISTS (
       SELECT 1 FROM lookup_page_addresses other WHERE other.page = p.seq AND other.address <> $1 AND other.is_shown = 1
     )`,
    [contact.address],
  );
  for (const { seq, domain, url, uri } of rows)
    if (isPageOf(contact, url + uri)) await removePage(runner, domain, seq, 1);
}

/** Whether URLs contain a name of a person, as `/team/ada-lovelace` does. */
export function isPageOf(
  { address, firstName, lastName }: Pick<Contact, "address" | "firstName" | "lastName">,
  urls: string,
): boolean {
  const folded = (text: string) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const decoded = (escapes: string) => Buffer.from(escapes.replaceAll("%", ""), "hex").toString();
  const paths = folded(urls.replace(/:\/\/[^/]+/g, "").replace(/(?:%[\da-f]{2})+/gi, decoded));
  const names = [address.slice(0, address.lastIndexOf("@")), firstName, lastName];
  return names.some((name) => name !== null && name.length > 1 && paths.includes(folded(name)));
}

/** Its addresses stay known until they expire. @param counted 1 for a page that was requested, else 0. */
export async function removePage(
  runner: SqlRunner,
  domain: string,
  seq: number,
  counted: number,
): Promise<void> {
  await runner.run("UPDATE lookup_page_domains SET pages = pages - $2 WHERE name = $1", [domain, counted]);
  await runner.run("DELETE FROM lookup_pages WHERE seq = $1", [seq]);
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
        const first = `SELECT address FROM lookup_contacts WHERE domain_id = $1 ORDER BY doubt, address LIMIT ${BATCH}`;
        // As above: the pages of a domain over this one stay.
        await runner.run(
          `UPDATE lookup_pages SET etag = NULL, modified = NULL, digest = NULL
           WHERE seq IN (SELECT page FROM lookup_page_addresses WHERE address IN (${first}))`,
          [known.id],
        );
        let erased = 0;
        for (const table of ["lookup_page_addresses", "lookup_contacts"]) {
          erased = await runner.run(`DELETE FROM ${table} WHERE address IN (${first})`, [known.id]);
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
  packed: string;
}
