import type {
  AddressType,
  Contact,
  ContactCounts,
  ContactFilter,
  Department,
  RequiredField,
  Seniority,
  VerificationStatus,
} from "@outrigger/core/lookup";

/**
 * The properties by which contacts are counted and filtered, in one number of 13 bits: verdict (3), known fields
 * (3), and class (7).
 */
export type Facet = number;

/** Department * 8 + seniority * 2 + type. */
export type FacetClass = number;

// These numbers are stored in databases: never change them. New names get new numbers.
const TYPES: Record<AddressType, number> = { personal: 0, generic: 1 };
const SENIORITIES: Record<Seniority, number> = { junior: 1, senior: 2, executive: 3 };
const DEPARTMENTS: Record<Department, number> = {
  executive: 1,
  it: 2,
  finance: 3,
  management: 4,
  sales: 5,
  legal: 6,
  support: 7,
  hr: 8,
  marketing: 9,
  communication: 10,
  education: 11,
  design: 12,
  health: 13,
  operations: 14,
};
const KNOWN_FIELDS: Record<RequiredField, number> = { full_name: 1, position: 2, phone_number: 4 };
/** 0: never verified. */
const STATUSES: Record<VerificationStatus, number> = {
  valid: 1,
  accept_all: 2,
  unknown: 3,
  invalid: 4,
  webmail: 5,
  disposable: 6,
};
const KNOWN_SHIFT = 7;
const STATUS_SHIFT = 10;
const TYPE_OF = namesByNumber(TYPES);
const SENIORITY_OF = namesByNumber(SENIORITIES);
const DEPARTMENT_OF = namesByNumber(DEPARTMENTS);
const STATUS_OF = namesByNumber(STATUSES);

export interface FacetNames {
  type: AddressType;
  seniority: Seniority | null;
  department: Department | null;
}

/**
 * Facets that a filter admits: `low` has a bit for each type with seniority, `high` a bit for each
 * department, `status` a bit for each verdict. `known` has the bits of all fields that must be known.
 */
export interface FacetMasks {
  low: number;
  high: number;
  known: number;
  status: number;
}

/** Number of contacts of a domain by facet. */
export type FacetCounts = Map<Facet, number>;

export function facetOf(contact: Omit<Contact, "evidence">): Facet {
  const { firstName, lastName, position, phoneNumber, verification } = contact;
  const known =
    (firstName && lastName ? KNOWN_FIELDS.full_name : 0) +
    (position ? KNOWN_FIELDS.position : 0) +
    (phoneNumber ? KNOWN_FIELDS.phone_number : 0);
  const status = verification === undefined ? 0 : STATUSES[verification.status];
  return (status << STATUS_SHIFT) + (known << KNOWN_SHIFT) + classOf(contact);
}

export function statusNumber(status: VerificationStatus): number {
  return STATUSES[status];
}

export function statusOf(number: number): VerificationStatus {
  return STATUS_OF.get(number) ?? "unknown";
}

export function classOf({ type, seniority, department }: FacetNames): FacetClass {
  const low = TYPES[type] + (seniority === null ? 0 : SENIORITIES[seniority] * 2);
  return (department === null ? 0 : DEPARTMENTS[department] * 8) + low;
}

export function facetNames(facet: Facet | FacetClass): FacetNames {
  return {
    type: TYPE_OF.get(facet & 1) ?? "personal",
    seniority: SENIORITY_OF.get((facet & 7) >> 1) ?? null,
    department: DEPARTMENT_OF.get((facet >> 3) & 15) ?? null,
  };
}

/** @returns `null` for a filter that admits everything. */
export function masksOf(filter: ContactFilter): FacetMasks | null {
  const { type, seniorities, departments, requiredFields, verificationStatuses } = filter;
  const filters = [type, seniorities, departments, requiredFields, verificationStatuses];
  if (filters.every((each) => each === undefined)) return null;
  const types = type === undefined ? Object.values(TYPES) : [TYPES[type]];
  const levels = seniorities?.map((name) => SENIORITIES[name]) ?? [0, ...Object.values(SENIORITIES)];
  const low = bits(levels.flatMap((seniority) => types.map((each) => seniority * 2 + each)));
  const high =
    departments === undefined ? ALL_FACETS.high : bits(departments.map((name) => DEPARTMENTS[name]));
  let known = 0;
  for (const field of requiredFields ?? []) known |= KNOWN_FIELDS[field];
  const status =
    verificationStatuses === undefined
      ? ALL_FACETS.status
      : bits(verificationStatuses.map((name) => STATUSES[name]));
  return { low, high, known, status };
}

function bits(numbers: readonly number[]): number {
  return numbers.reduce((mask, number) => mask | (1 << number), 0);
}

export const ALL_FACETS: FacetMasks = { low: 0xff, high: 0x7fff, known: 0, status: 0x7f };

/** The parameters of {@link isAdmittedSql}: two masks, or four if known fields or verdicts are filtered. */
export function maskValues({ low, high, known, status }: FacetMasks): number[] {
  return known === 0 && status === ALL_FACETS.status ? [low, high] : [low, high, known, status];
}

/**
 * The SQL condition that the masks in parameters, of which `$first` is the first, admit `facet`.
 * @param masks two or four, see {@link maskValues}: each costs time per contact.
 */
export function isAdmittedSql(first: number, masks: number): string {
  const [low, high, known, status] = [first, first + 1, first + 2, first + 3].map((each) => `$${each}`);
  const classes = `((1 << (facet & 7)) & ${low}) <> 0 AND ((1 << ((facet >> 3) & 15)) & ${high}) <> 0`;
  if (masks === 2) return classes;
  return `${classes} AND ((facet >> ${KNOWN_SHIFT}) & ${known}) = ${known}
    AND ((1 << (facet >> ${STATUS_SHIFT})) & ${status}) <> 0`;
}

export function countAdmitted(counts: FacetCounts, masks: FacetMasks): number {
  let total = 0;
  for (const [facet, count] of counts) if (isAdmitted(facet, masks)) total += count;
  return total;
}

function isAdmitted(facet: Facet, { low, high, known, status }: FacetMasks): boolean {
  return (
    ((1 << (facet & 7)) & low) !== 0 &&
    ((1 << ((facet >> 3) & 15)) & high) !== 0 &&
    ((facet >> KNOWN_SHIFT) & known) === known &&
    ((1 << (facet >> STATUS_SHIFT)) & status) !== 0
  );
}

export function writeFacetCounts(counts: FacetCounts): string {
  const sorted = [...counts].sort(([a], [b]) => a - b);
  return `{${sorted.map(([facet, count]) => `"${facet}":${count}`).join(",")}}`;
}

/** Reads counts, or the sum of a JSON array of counts. */
export function readFacetCounts(text: string): FacetCounts {
  // Only `writeFacetCounts` writes the column.
  const written = JSON.parse(text) as Record<string, number> | Record<string, number>[];
  if (!Array.isArray(written)) return countsOf(written);
  const sums: FacetCounts = new Map();
  for (const each of written) {
    for (const [facet, count] of countsOf(each)) sums.set(facet, (sums.get(facet) ?? 0) + count);
  }
  return sums;
}

function countsOf(written: Record<string, number>): FacetCounts {
  return new Map(Object.entries(written).map(([facet, count]) => [Number(facet), count]));
}

export function contactCounts(counts: FacetCounts, type?: AddressType): ContactCounts {
  const sums: ContactCounts = { total: 0, personal: 0, generic: 0, departments: {}, seniorities: {} };
  for (const [facet, count] of counts) {
    const names = facetNames(facet);
    if (type !== undefined && names.type !== type) continue;
    const { seniority, department } = names;
    sums.total += count;
    sums[names.type] += count;
    if (department !== null) sums.departments[department] = (sums.departments[department] ?? 0) + count;
    if (seniority !== null) sums.seniorities[seniority] = (sums.seniorities[seniority] ?? 0) + count;
  }
  return sums;
}

function namesByNumber<Name extends string>(numbers: Record<Name, number>): Map<number, Name> {
  // The keys of a record are its names.
  return new Map((Object.entries(numbers) as [Name, number][]).map(([name, number]) => [number, name]));
}
