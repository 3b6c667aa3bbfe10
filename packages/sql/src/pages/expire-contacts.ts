import { eraseOne } from "../contacts/erase-contacts.ts";
import type { ContactNews } from "../contacts/merge-contact.ts";
import { unpackStoredContact } from "../contacts/packed-contact.ts";
import { BATCH_WRITE, putNews } from "../contacts/put-batch.ts";
import type { SqlDriver, SqlRunner } from "../driver/sql-driver.ts";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";

const AGED_MONTHS = 18;
const KEPT_MONTHS = 36;
const EXPIRED_AT_ONCE = 500;

/**
 * Lowers the confidence of contacts that no page has shown for 18 months. After 36 months, those that are known from pages only
 * are erased, and what pages gave to others.
 * @returns the number of erased contacts.
 */
export async function expireContacts(database: SqlDatabase, nowMs: number): Promise<number> {
  const driver = useDatabase(database);
  const agedDay = dayBefore(nowMs, AGED_MONTHS);
  while ((await ageContacts(driver, agedDay, nowMs)) === EXPIRED_AT_ONCE);
  const day = dayBefore(nowMs, KEPT_MONTHS);
  let erased = 0;
  for (;;) {
    const rows = await driver.all<{ address: string }>(
      `SELECT address FROM lookup_page_addresses WHERE is_aged = 1 AND seen_on < $1 ORDER BY seen_on LIMIT ${EXPIRED_AT_ONCE}`,
      [day],
    );
    for (const address of new Set(rows.map((row) => row.address))) {
      if (await driver.write((runner) => dropPages(runner, driver, address, day, nowMs), BATCH_WRITE)) {
        if (await eraseOne(driver, address)) erased++;
      }
    }
    if (rows.length < EXPIRED_AT_ONCE) return erased;
  }
}

/** Merges nothing into contacts, which makes their confidence that of this day. */
async function ageContacts(driver: SqlDriver, day: string, nowMs: number): Promise<number> {
  return await driver.write(async (runner) => {
    const rows = await runner.all<{ page: number; address: string }>(
      `SELECT page, address FROM lookup_page_addresses WHERE is_aged = 0 AND seen_on < $1 ORDER BY seen_on LIMIT ${EXPIRED_AT_ONCE}`,
      [day],
    );
    await putNews(
      runner,
      driver,
      rows.map(({ address }) => noNewsOf(address)),
      new Map(),
      nowMs,
    );
    await runner.run(
      `UPDATE lookup_page_addresses SET is_aged = 1 WHERE seen_on < $1 AND address IN ${driver.dialect.strings("$2")}`,
      [day, JSON.stringify(rows.map(({ address }) => address))],
    );
    return rows.length;
  }, BATCH_WRITE);
}

/** Drops what pages gave to an imported contact. @returns whether all of it is from pages: then it is to be erased. */
async function dropPages(
  runner: SqlRunner,
  driver: SqlDriver,
  address: string,
  day: string,
  nowMs: number,
): Promise<boolean> {
  const select = "SELECT packed FROM lookup_contacts WHERE address = $1";
  const row = await runner.first<{ packed: string }>(select, [address]);
  const contact = row && unpackStoredContact(row.packed);
  const isExpired = contact?.evidence.every(
    ({ lastSeenOn, isIndexed }) => isIndexed !== true || (lastSeenOn ?? day) < day,
  );
  if (isExpired === true && contact?.isFromPages === true) return true;
  const news = isExpired === true ? [{ ...noNewsOf(address), isExpired }] : [];
  await putNews(runner, driver, news, new Map(), nowMs);
  await runner.run("DELETE FROM lookup_page_addresses WHERE address = $1 AND seen_on < $2", [address, day]);
  return false;
}

function noNewsOf(address: string): ContactNews {
  return { address, domain: address.slice(address.lastIndexOf("@") + 1), evidence: [], isFromPage: true };
}

function dayBefore(ms: number, months: number): string {
  const day = new Date(ms);
  day.setUTCMonth(day.getUTCMonth() - months);
  return day.toISOString().slice(0, 10);
}
