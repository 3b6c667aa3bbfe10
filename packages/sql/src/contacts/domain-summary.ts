import { type Contact, learnPatterns, type PatternCount, titleKey } from "@outrigger/core/lookup";
import { type Facet, type FacetCounts, facetOf, writeFacetCounts } from "./facets.ts";

/** Number of contacts between two marks. A page is found by skipping at most this many. */
const MARK_EVERY = 64;

/** Position of a contact in the order of its domain. */
export type Mark = [domainId: number, position: number, doubt: number, address: string];

/** Number of contacts of a domain with a title, by facet. */
export type TitleCounts = [domainId: number, title: string, facets: string];

/** Counts, marks and patterns of a domain. Contacts must be added in order. */
export interface DomainSummary {
  add(contact: Contact): void;
  marks(): readonly Mark[];
  facets(): string;
  titles(): TitleCounts[];
  patterns(): PatternCount[];
}

interface NamedLocal {
  local: string;
  firstName: string;
  lastName: string;
}

export function createDomainSummary(domainId: number): DomainSummary {
  const facets: FacetCounts = new Map();
  const titles = new Map<string, FacetCounts>();
  const marks: Mark[] = [];
  const named: NamedLocal[] = [];
  let position = 0;

  return {
    add(contact) {
      if (position > 0 && position % MARK_EVERY === 0) {
        marks.push([domainId, position, 100 - contact.confidence, contact.address]);
      }
      position++;
      const facet = facetOf(contact);
      countOne(facets, facet);
      const title = titleKey(contact.position ?? "");
      if (title !== "") {
        const counts: FacetCounts = titles.get(title) ?? new Map();
        titles.set(title, counts);
        countOne(counts, facet);
      }
      const learnable = namedLocal(contact);
      if (learnable !== null) named.push(learnable);
    },
    marks: () => marks,
    facets: () => writeFacetCounts(facets),
    titles: () => [...titles].map(([title, counts]) => [domainId, title, writeFacetCounts(counts)]),
    patterns: () => learnPatterns(named),
  };
}

function countOne(counts: FacetCounts, facet: Facet): void {
  counts.set(facet, (counts.get(facet) ?? 0) + 1);
}

/** The parts from which a pattern can be learnt; `null` without evidence or without both names. */
export function namedLocal({ address, firstName, lastName, evidence }: Contact): NamedLocal | null {
  if (firstName === null || lastName === null || evidence.length === 0) return null;
  return { local: address.slice(0, address.lastIndexOf("@")), firstName, lastName };
}
