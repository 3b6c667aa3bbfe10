import { nameKey as keyOfName, spellingKey } from "@outrigger/core/lookup";
import type { SqlDriver } from "../driver/sql-driver.ts";
import { unpackContact } from "./packed-contact.ts";

/** The normalised key by which a person's name is found; `null` without both a first and a last name. */
export function nameKey(firstName: string | null, lastName: string | null): string | null {
  return firstName === null || lastName === null ? null : keyOfName(firstName, lastName);
}

/** The key of all usual spellings of a person's name; `null` where {@link nameKey} is. */
export function spellingKeyOf(firstName: string | null, lastName: string | null): string | null {
  if (firstName === null || lastName === null) return null;
  return spellingKey(firstName, lastName);
}

/** Number of contacts per transaction. */
const BATCH = 2000;
const BATCH_MS = 60_000;

/** Renews the keys of contacts that an earlier version or its backup stored: they have no spelling key. */
export async function addSpellingKeys(driver: SqlDriver): Promise<void> {
  const missing = `SELECT address, packed FROM lookup_contacts
     WHERE name_key IS NOT NULL AND spelling_key IS NULL ORDER BY address LIMIT ${BATCH}`;
  // Most often there is none, and no transaction.
  while ((await driver.first(missing)) !== undefined) {
    await driver.write(
      async (runner) => {
        const rows = await runner.all<{ address: string; packed: string }>(missing);
        const keys = rows.map(({ address, packed }) => {
          const { firstName, lastName } = unpackContact(packed);
          return [address, nameKey(firstName, lastName), spellingKeyOf(firstName, lastName)];
        });
        await runner.run(
          `UPDATE lookup_contacts SET name_key = each.value->>1, spelling_key = each.value->>2
           FROM ${driver.dialect.rows("$1")} WHERE lookup_contacts.address = each.value->>0`,
          [JSON.stringify(keys)],
        );
      },
      { isAlone: true, timeoutMs: BATCH_MS },
    );
  }
}
