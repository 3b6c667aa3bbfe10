import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  type Contact,
  type ContactEvidence,
  type ContactFilter,
  type ContactSource,
  DEPARTMENTS,
  REQUIRED_FIELDS,
  SENIORITIES,
  titleKey,
  VERIFICATION_STATUSES,
} from "@outrigger/core/lookup";

/** Data that a source holds at the beginning of a case. */
export interface ContactData {
  contacts: readonly Contact[];
  /** Names of organisations by domain. @default none */
  organizations?: Readonly<Record<string, string>>;
}

/** A source for one case, and a domain that no other case uses. */
export interface ContactScope {
  source: ContactSource;
  domain: string;
  load(data: ContactData): Promise<void>;
}

export type ContactSourceTest = (name: string, body: (scope: ContactScope) => Promise<void>) => void;

export function randomDomain(): string {
  return `${randomBytes(8).toString("hex")}.example`;
}

/** A contact with only an address, and default values. */
export function contactOf(address: string, known: Partial<Contact> = {}): Contact {
  return {
    address,
    type: "personal",
    confidence: 50,
    firstName: null,
    lastName: null,
    position: null,
    seniority: null,
    department: null,
    networkA: null,
    networkAUrl: null,
    networkB: null,
    phoneNumber: null,
    evidence: [],
    ...known,
  };
}

export function evidenceOf(uri: string, known: Partial<ContactEvidence> = {}): ContactEvidence {
  return {
    domain: new URL(uri).hostname,
    uri,
    extractedOn: "2026-01-02",
    lastSeenOn: "2026-03-04",
    stillOnPage: true,
    ...known,
  };
}

/** A person with a name, whose address was found on a page. */
export function personOf(domain: string, local: string, firstName: string, lastName: string): Contact {
  const evidence = [evidenceOf(`https://www.${domain}/${local}`)];
  return contactOf(`${local}@${domain}`, { firstName, lastName, evidence });
}

const TITLES = [
  null,
  "CTO",
  "Sales Manager",
  "Directrice Générale",
  "Senior Manager of Sales",
  "C.T.O. & Co",
  "",
];

/**
 * Contacts of every type, seniority, department, verdict and title, with and without name and phone number;
 * many have the same confidence.
 */
export function variedContacts(domain: string, count: number): Contact[] {
  return Array.from({ length: count }, (_, index) =>
    contactOf(`v${(index * 7919) % 9973}.${index}@${domain}`, {
      type: index % 3 === 0 ? "generic" : "personal",
      confidence: [0, 100, 42, 42, 42, 43, 99][index % 7] ?? 0,
      seniority: [null, ...SENIORITIES][index % 4] ?? null,
      department: [null, ...DEPARTMENTS][index % 15] ?? null,
      firstName: index % 5 === 0 ? null : "Ada",
      lastName: index % 11 === 0 ? null : "Lovelace",
      phoneNumber: index % 6 === 0 ? "+44 20 7946 0000" : null,
      position: TITLES[(index + Math.floor(index / 7)) % TITLES.length] ?? null,
      ...verifiedOf(index),
    }),
  );
}

/** An address with the verdict `invalid` keeps no confidence. */
function verifiedOf(index: number): Partial<Contact> {
  const status = [undefined, ...VERIFICATION_STATUSES][index % 8];
  if (status === undefined) return {};
  return { verification: { status, date: "2026-05-04" }, ...(status === "invalid" ? { confidence: 0 } : {}) };
}

/** Ordered by confidence, highest first; equal ones by the bytes of the address. */
export function inOrder(contacts: readonly Contact[]): Contact[] {
  return contacts.toSorted(
    (a, b) => b.confidence - a.confidence || Buffer.compare(Buffer.from(a.address), Buffer.from(b.address)),
  );
}

export function matches(contact: Contact, filter: ContactFilter): boolean {
  const { type, requiredFields = [], jobTitles } = filter;
  const isAmong = <T>(value: T | null, wanted: readonly T[] | undefined) =>
    wanted === undefined || (value !== null && wanted.includes(value));
  const { firstName, lastName, position, phoneNumber } = contact;
  const known = {
    full_name: firstName && lastName,
    position,
    phone_number: phoneNumber,
  };
  return (
    (type === undefined || contact.type === type) &&
    isAmong(contact.seniority, filter.seniorities) &&
    isAmong(contact.department, filter.departments) &&
    isAmong(contact.verification?.status ?? null, filter.verificationStatuses) &&
    REQUIRED_FIELDS.every((field) => !requiredFields.includes(field) || Boolean(known[field])) &&
    (jobTitles === undefined || jobTitles.some((key) => titleKey(position ?? "").includes(key)))
  );
}

/** Asserts that the pages of a search hold exactly these contacts, each page with their number. */
export async function assertPages(
  source: ContactSource,
  domain: string,
  filter: ContactFilter,
  limit: number,
  expected: readonly Contact[],
): Promise<void> {
  const { contacts, totals } = await readPages(source, domain, filter, limit);
  assert.deepEqual(contacts, expected, JSON.stringify(filter));
  assert.deepEqual(totals, new Set([expected.length]), JSON.stringify(filter));
}

/** All contacts read in pages of `limit`, and the total that every page reported. */
export async function readPages(
  source: ContactSource,
  domain: string,
  filter: ContactFilter,
  limit: number,
): Promise<{ contacts: Contact[]; totals: Set<number> }> {
  const contacts: Contact[] = [];
  const totals = new Set<number>();
  for (let offset = 0; ; offset += limit) {
    const page = await source.search(domain, filter, { limit, offset });
    totals.add(page.total);
    if (page.contacts.length === 0) return { contacts, totals };
    contacts.push(...page.contacts);
  }
}
