import { profileHandle, profileUrl } from "@outrigger/core/lookup";
import type { PageContact } from "@outrigger/sql";
import type { PersonName } from "./person-names.ts";

/** A contact that a page shows. */
export interface FoundContact extends PageContact {}

/** What a page says of the person or role of an address. */
export interface Person {
  name: PersonName | null;
  position: string | null;
  phone: string | null;
  /** URLs beside the name. */
  profiles: readonly string[];
}

export function contactOf(address: string, { name, position, phone, profiles }: Person): FoundContact {
  const firstOf = (read: (url: string) => string | null) =>
    profiles.map(read).find((each) => each !== null) ?? null;
  return {
    address,
    firstName: name?.firstName ?? null,
    lastName: name?.lastName ?? null,
    position,
    phoneNumber: phone,
    networkAUrl: firstOf(profileUrl),
    networkB: firstOf(profileHandle),
  };
}

/** Adds the fields that a known contact of the address lacks. */
export function merge(contacts: Map<string, FoundContact>, contact: FoundContact): void {
  const known = contacts.get(contact.address) ?? contact;
  contacts.set(contact.address, known);
  if (known.lastName === null && known.firstName === null) {
    known.firstName = contact.firstName;
    known.lastName = contact.lastName;
  }
  for (const key of ["position", "phoneNumber", "networkAUrl", "networkB"] as const)
    known[key] ??= contact[key];
}
