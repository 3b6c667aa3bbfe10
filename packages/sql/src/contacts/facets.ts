import type { AddressType, ContactCounts, ContactFilter, Department, Seniority } from "@outrigger/core";

/**
 * The properties by which contacts are counted and filtered, in one number: department * 8 + seniority * 2 +
 * type.
 */
export type Facet = number;

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
const TYPE_OF = namesByNumber(TYPES);
const SENIORITY_OF = namesByNumber(SENIORITIES);
const DEPARTMENT_OF = namesByNumber(DEPARTMENTS);

export interface FacetNames {
  type: AddressType;
  seniority: Seniority | null;
  department: Department | null;
}

/**
 * Facets that a filter admits: `low` has a bit for each type with seniority, `high` a bit for each
 * department.
 */
export interface FacetMasks {
  low: number;
  high: number;
}

/** Number of contacts of a domain by facet. */
export type FacetCounts = Map<Facet, number>;

export function facetOf({ type, seniority, department }: FacetNames): Facet {
  const low = TYPES[type] + (seniority === null ? 0 : SENIORITIES[seniority] * 2);
  return (department === null ? 0 : DEPARTMENTS[department] * 8) + low;
}

export function facetNames(facet: Facet): FacetNames {
  return {
    type: TYPE_OF.get(facet & 1) ?? "personal",
    seniority: SENIORITY_OF.get((facet & 7) >> 1) ?? null,
    department: DEPARTMENT_OF.get(facet >> 3) ?? null,
  };
}

/** @returns `null` for a filter that admits everything. */
export function masksOf({ type, seniorities, departments }: ContactFilter): FacetMasks | null {
  if (type === undefined && seniorities === undefined && departments === undefined) return null;
  let low = 0;
  const wantedTypes = type === undefined ? Object.values(TYPES) : [TYPES[type]];
  const wantedSeniorities =
    seniorities === undefined
      ? [0, ...Object.values(SENIORITIES)]
      : seniorities.map((name) => SENIORITIES[name]);
  for (const each of wantedTypes)
    for (const seniority of wantedSeniorities) low |= 1 << (seniority * 2 + each);
  let high = ALL_FACETS.high;
  if (departments !== undefined) {
    high = 0;
    for (const name of departments) high |= 1 << DEPARTMENTS[name];
  }
  return { low, high };
}

export const ALL_FACETS: FacetMasks = { low: 0xff, high: 0x7fff };

/** The SQL condition that the masks in two parameters admit `facet`. */
export function isAdmittedSql(low: string, high: string): string {
  return `((1 << (facet & 7)) & ${low}) <> 0 AND ((1 << (facet >> 3)) & ${high}) <> 0`;
}

export function countAdmitted(counts: FacetCounts, { low, high }: FacetMasks): number {
  let total = 0;
  for (const [facet, count] of counts) {
    if (((1 << (facet & 7)) & low) !== 0 && ((1 << (facet >> 3)) & high) !== 0) total += count;
  }
  return total;
}

export function writeFacetCounts(counts: FacetCounts): string {
  return JSON.stringify(Object.fromEntries(counts));
}

export function readFacetCounts(text: string): FacetCounts {
  // Only `writeFacetCounts` writes the column.
  const written = JSON.parse(text) as Record<string, number>;
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
