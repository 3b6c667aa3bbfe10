import type { Contact, ContactEvidence, ContactVerification } from "../../contracts/contact-source.ts";
import type {
  EmailEntry,
  NetworkFields,
  OrganizationFields,
  SourceEntry,
  VerificationEntry,
} from "../answers.ts";
import type { LookupSettings } from "../lookup-settings.ts";

/** A contact as an entry of a domain search. */
export function emailEntry(contact: Contact, { networkNames }: LookupSettings): EmailEntry {
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
    verification: verificationEntry(contact.verification),
    position_raw: contact.position,
  };
}

const UNKNOWN_FACTS = Object.fromEntries(
  "description industry facebook instagram youtube country state city postal_code street headcount company_type"
    .split(" ")
    .map((name) => [name, null]),
) as Omit<OrganizationFields, "technologies">; // These are its names.

/** What no source knows of an organisation. */
export function organizationFields({ a, b }: LookupSettings["networkNames"]): OrganizationFields {
  return { ...UNKNOWN_FACTS, technologies: [], [a]: null, [b]: null };
}

/** The latest verdict; nulls for an address that was never verified. */
export function verificationEntry(verification: ContactVerification | undefined): VerificationEntry {
  return { date: verification?.date ?? null, status: verification?.status ?? null };
}

/** A page on which an address was found. */
export function sourceEntry(evidence: ContactEvidence): SourceEntry {
  return {
    domain: evidence.domain,
    uri: evidence.uri,
    extracted_on: evidence.extractedOn,
    last_seen_on: evidence.lastSeenOn,
    still_on_page: evidence.stillOnPage,
  };
}

/** The profiles of a person under the configured names; all `null` without a contact. */
export function networkFields(
  contact: Pick<Contact, "networkA" | "networkAUrl" | "networkB"> | null,
  { a, aUrl, b }: LookupSettings["networkNames"],
): NetworkFields {
  // Under their default names these are the interface's fields.
  const fields: Record<string, string | null> = {
    [a]: contact?.networkA ?? null,
    [aUrl]: contact?.networkAUrl ?? null,
    [b]: contact?.networkB ?? null,
  };
  return fields;
}
