import { setImmediate as breathe } from "node:timers/promises";
import type { Contact } from "@outrigger/core/lookup";
import type { SqlRunner } from "../driver/sql-driver.ts";
import { PACKED_JSON, unpackContacts } from "./packed-contact.ts";

/** Number of contacts that are read at once. */
const CHUNK = 2000;

/** Yields all contacts of a domain in order, in chunks. Other work can run between two chunks. */
export async function* readInOrder(runner: SqlRunner, domainId: number): AsyncGenerator<Contact[]> {
  let last: Contact | undefined;
  for (;;) {
    const row = await runner.first<{ page: string }>(
      `SELECT ${PACKED_JSON} AS page FROM (
         SELECT packed FROM lookup_contacts
         WHERE domain_id = $1 AND (doubt, address) > ($2, $3) ORDER BY doubt, address LIMIT ${CHUNK}
       ) AS p`,
      [domainId, last === undefined ? -1 : 100 - last.confidence, last?.address ?? ""],
    );
    const contacts = unpackContacts(row?.page ?? "[]");
    if (contacts.length > 0) yield contacts;
    if (contacts.length < CHUNK) return;
    last = contacts.at(-1);
    await breathe();
  }
}
