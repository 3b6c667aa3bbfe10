import type { Contact, ContactEvidence } from "../../contracts/contact-source.ts";
import type { LookupSettings } from "../lookup-settings.ts";

/** A contact as an entry of a domain search. */
export function emailEntry(contact: Contact, { networkNames }: LookupSettings): Record<string, unknown> {
  return {
    value: contact.address,
    type: contact.type,
    confidence: contact.confidence,
    sources: contact.evidence.map(sourceEntry),
    first_name: contact.firstName,
    last_name: contact.lastName,
    position: contact.position,
    seniority: contact.seniority,
    department: contact.department,
    ...networkFields(contact, networkNames),
    phone_number: contact.phoneNumber,
  };
}

/** A page on which an address was found. */
export function sourceEntry(evidence: ContactEvidence): Record<string, unknown> {
  return {
    domain: evidence.domain,
    uri: evidence.uri,
    extracted_on: evidence.extractedOn,
    last_seen_on: evidence.lastSeenOn,
    still_on_page: evidence.stillOnPage,
  };
}

/** The profiles of a person, all fields by all their names; nulls for nobody. */
export function networkFields(
  contact: Pick<Contact, "networkA" | "networkAUrl" | "networkB"> | null,
  { a, aUrl, b }: LookupSettings["networkNames"],
): Record<string, string | null> {
  return {
    [a]: contact?.networkA ?? null,
    [aUrl]: contact?.networkAUrl ?? null,
    [b]: contact?.networkB ?? null,
  };
}
