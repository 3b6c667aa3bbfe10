import { setImmediate as breathe } from "node:timers/promises";
import { verifiedConfidence } from "@outrigger/core/lookup";
import type { SqlRunner } from "../driver/sql-driver.ts";
import { PACKED_JSON, type StoredContact, unpackStored } from "./packed-contact.ts";

/** Number of contacts that are read at once. */
const CHUNK = 2000;

/** Yields all contacts of a domain in order, in chunks. Other work can run between two chunks. */
export async function* readInOrder(runner: SqlRunner, domainId: number): AsyncGenerator<StoredContact[]> {
  let last: StoredContact | undefined;
  for (;;) {
    const row = await runner.first<{ page: string }>(
      `SELECT ${PACKED_JSON} AS page FROM (
         SELECT packed FROM lookup_contacts
         WHERE domain_id = $1 AND (doubt, address) > ($2, $3) ORDER BY doubt, address LIMIT ${CHUNK}
       ) AS p`,
      [domainId, last === undefined ? -1 : doubtOf(last), last?.address ?? ""],
    );
    const contacts = unpackStored(row?.page ?? "[]");
    if (contacts.length > 0) yield contacts;
    if (contacts.length < CHUNK) return;
    last = contacts.at(-1);
    await breathe();
  }
}

/** The order of contacts begins with the least. */
export function doubtOf({ confidence, verification }: StoredContact): number {
  return 100 - verifiedConfidence(confidence, verification);
}
