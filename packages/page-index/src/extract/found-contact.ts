import type { PageContact } from "@outrigger/sql";

/** A contact that a page shows. */
export interface FoundContact extends PageContact {}

/** What a function reads in the first URL for which it does; `null` without one. */
export function firstOf(
  urls: readonly string[] | undefined,
  read: (url: string) => string | null,
): string | null {
  return urls?.map(read).find((each) => each !== null) ?? null;
}

/** Adds the fields that a known contact of the address lacks. */
export function merge(contacts: Map<string, FoundContact>, contact: FoundContact): void {
  const known = contacts.get(contact.address);
  if (known === undefined) {
    contacts.set(contact.address, contact);
    return;
  }
  if (known.lastName === null && known.firstName === null) {
    known.firstName = contact.firstName;
    known.lastName = contact.lastName;
  }
  known.position ??= contact.position;
  known.phoneNumber ??= contact.phoneNumber;
  known.networkAUrl ??= contact.networkAUrl;
  known.networkB ??= contact.networkB;
}
