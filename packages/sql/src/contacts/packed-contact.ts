import { type Contact, type ContactEvidence, verifiedConfidence } from "@outrigger/core/lookup";
import { classOf, facetNames, statusNumber, statusOf } from "./facets.ts";

type PackedEvidence = [
  domain: string,
  uri: string,
  extractedOn: string | null,
  lastSeenOn: string | null,
  /** 1 if the page still shows the address, plus 2 if it is indexed and was not imported. */
  state: number,
];

/**
 * A contact without field names, as stored in the database: half as long, and a page of contacts is one JSON
 * text.
 */
type Packed = [
  address: string,
  facetClass: number,
  /** Regardless of the verdict. */
  confidence: number,
  /**
   * 1: the confidence was given, not calculated. 2: all is from indexed pages, with a calculated confidence. Plus 4 times the sum
   * of 2^n for the fields {@link PAGE_FIELDS}[n] of an imported contact that pages filled in.
   */
  origin: number,
  firstName: string | null,
  lastName: string | null,
  position: string | null,
  networkA: string | null,
  networkAUrl: string | null,
  networkB: string | null,
  phoneNumber: string | null,
  evidence: PackedEvidence[],
  /** `null` if the address was never verified. */
  verification: [status: number, date: string] | null,
  /** `null` if no import gave one. */
  organization: string | null,
];

/** The fields that a page can fill in. Their order is stored. */
export const PAGE_FIELDS = [
  "firstName",
  "lastName",
  "position",
  "seniority",
  "department",
  "phoneNumber",
  "networkAUrl",
  "networkB",
] as const;
export type PageField = (typeof PAGE_FIELDS)[number];

export interface StoredEvidence extends ContactEvidence {
  /** Whether the index of pages found it, and no import. @default false */
  isIndexed?: boolean;
}

/** A contact with its confidence regardless of the verdict, and whether it was given or calculated. */
export interface StoredContact extends Contact {
  evidence: readonly StoredEvidence[];
  isConfidenceGiven: boolean;
  /** Name of the person's organisation, as an import gave it. */
  organization: string | null;
  /** Whether all of it is from indexed pages, and nothing was imported. */
  isFromPages: boolean;
  /** The fields whose values pages filled in, and which they may change. Empty if all of it is from pages. */
  filledIn: readonly PageField[];
}

export function packContact(contact: StoredContact): string {
  const { verification } = contact;
  const packed: Packed = [
    contact.address,
    classOf(contact),
    contact.confidence,
    (contact.isConfidenceGiven ? 1 : contact.isFromPages ? 2 : 0) +
      contact.filledIn.reduce((sum, field) => sum + 4 * 2 ** PAGE_FIELDS.indexOf(field), 0),
    contact.firstName,
    contact.lastName,
    contact.position,
    contact.networkA,
    contact.networkAUrl,
    contact.networkB,
    contact.phoneNumber,
    contact.evidence.map(({ domain, uri, extractedOn, lastSeenOn, stillOnPage, isIndexed }) => [
      domain,
      uri,
      extractedOn,
      lastSeenOn,
      (stillOnPage ? 1 : 0) + (isIndexed ? 2 : 0),
    ]),
    verification === undefined ? null : [statusNumber(verification.status), verification.date],
    contact.organization,
  ];
  return JSON.stringify(packed);
}

/** Reads a JSON array of packed contacts. */
export function unpackContacts(text: string): Contact[] {
  // Only `packContact` writes the column.
  return (JSON.parse(text) as Packed[]).map(contactOf);
}

export function unpackContact(text: string): Contact {
  return contactOf(JSON.parse(text) as Packed); // Only `packContact` writes it.
}

/** Reads a JSON array of packed contacts, including the origin of their confidence. */
export function unpackStored(text: string): StoredContact[] {
  const packed = JSON.parse(text) as Packed[]; // Only `packContact` writes it.
  return packed.map(storedOf);
}

/** A contact, including the origin of its confidence. */
export function unpackStoredContact(text: string): StoredContact {
  return storedOf(JSON.parse(text) as Packed); // Only `packContact` writes it.
}

function storedOf(packed: Packed): StoredContact {
  const [, , confidence, origin] = packed;
  return {
    ...contactOf(packed),
    evidence: packed[11].map((each) => ({ ...evidenceOf(each), isIndexed: each[4] >= 2 })),
    confidence,
    isConfidenceGiven: origin % 4 === 1,
    organization: packed[13] ?? null,
    isFromPages: origin % 4 === 2,
    filledIn: PAGE_FIELDS.filter((_, index) => (origin >> (index + 2)) % 2 === 1),
  };
}

/** A contact with the ID of its domain. */
export interface NumberedContact {
  domainId: number;
  contact: StoredContact;
}

/** Reads a result of {@link NUMBERED_JSON}. */
export function unpackNumbered(text: string): NumberedContact[] {
  const rows = JSON.parse(text) as [number, Packed][]; // Only `packContact` writes it.
  return rows.map(([domainId, packed]) => ({ domainId, contact: storedOf(packed) }));
}

/** SQL that joins rows to a JSON array of packed contacts. Reading one text is faster than reading rows. */
export const PACKED_JSON = "'[' || coalesce(string_agg(packed, ','), '') || ']'";
export const NUMBERED_JSON =
  "'[' || coalesce(string_agg('[' || domain_id || ',' || packed || ']', ','), '') || ']'";

function contactOf(packed: Packed): Contact {
  const [address, facetClass, confidence, , firstName, lastName, position, networkA, networkAUrl, networkB] =
    packed;
  const { type, seniority, department } = facetNames(facetClass);
  const verdict = packed[12] ?? null;
  const verification = verdict === null ? undefined : { status: statusOf(verdict[0]), date: verdict[1] };
  return {
    address,
    type,
    confidence: verifiedConfidence(confidence, verification),
    firstName,
    lastName,
    position,
    seniority,
    department,
    networkA,
    networkAUrl,
    networkB,
    phoneNumber: packed[10],
    ...(verification === undefined ? {} : { verification }),
    evidence: packed[11].map(evidenceOf),
  };
}

function evidenceOf([domain, uri, extractedOn, lastSeenOn, state]: PackedEvidence): ContactEvidence {
  return { domain, uri, extractedOn, lastSeenOn, stillOnPage: state % 2 === 1 };
}
