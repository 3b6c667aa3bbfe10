import type { Contact } from "@outrigger/core/lookup";
import { checkOptions, rules } from "@outrigger/core/stores";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";
import type { ContactNews } from "./merge-contact.ts";
import { type BatchCounts, putBatch } from "./put-batch.ts";
import { refreshDomains } from "./refresh-contacts.ts";

const RULES = {
  /** Names of organisations by domain. @default none */
  organizations: rules.preset({}, rules.named(rules.text("the name of an organisation", () => true))),
};

export interface PutContactsOptions extends rules.Options<typeof RULES> {}

const BATCH = 2000;

/**
 * Stores contacts as given. For a known address it replaces everything except the pages, which it merges. Addresses
 * must be normalised. Use `importContacts` for files.
 */
export async function putContacts(
  database: SqlDatabase,
  contacts: Iterable<Contact> | AsyncIterable<Contact>,
  options: PutContactsOptions = {},
): Promise<BatchCounts> {
  const { organizations } = checkOptions("putContacts", options, RULES);
  const driver = useDatabase(database);
  const sum: BatchCounts = { added: 0, updated: 0, unchanged: 0 };
  let batch: ContactNews[] = [];
  let named = new Map(Object.entries(organizations));

  async function put(): Promise<void> {
    const counts = await putBatch(driver, batch, named, Date.now());
    sum.added += counts.added;
    sum.updated += counts.updated;
    sum.unchanged += counts.unchanged;
    batch = [];
    named = new Map();
  }

  for await (const contact of contacts) {
    batch.push({ ...contact, domain: contact.address.slice(contact.address.lastIndexOf("@") + 1) });
    if (batch.length >= BATCH) await put();
  }
  await put();
  await refreshDomains(driver);
  return sum;
}
