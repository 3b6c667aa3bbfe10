import { type Contact, learnPatterns, type PatternCount, titleKey } from "@outrigger/core/lookup";
import { type Facet, type FacetCounts, facetOf, writeFacetCounts } from "./facets.ts";

/** Number of contacts between two marks. A page is found by skipping at most this many. */
const MARK_EVERY = 64;

/** Position of a contact in the order of its domain. */
export type Mark = [domainId: number, position: number, doubt: number, address: string];

/** Number of contacts of a domain with a title, by facet. */
export type TitleCounts = [domainId: number, title: string, facets: string];

interface NamedLocal {
  local: string;
  firstName: string;
  lastName: string;
}

/** Counts, marks and patterns of a domain. Contacts must be added in order. */
export class DomainSummary {
  readonly marks: Mark[] = [];
  readonly #domainId: number;
  readonly #facets: FacetCounts = new Map();
  readonly #titles = new Map<string, FacetCounts>();
  readonly #named: NamedLocal[] = [];
  #position = 0;

  constructor(domainId: number) {
    this.#domainId = domainId;
  }

  add(contact: Contact): void {
    if (this.#position > 0 && this.#position % MARK_EVERY === 0) {
      this.marks.push([this.#domainId, this.#position, 100 - contact.confidence, contact.address]);
    }
    this.#position++;
    const facet = facetOf(contact);
    countOne(this.#facets, facet);
    const title = titleKey(contact.position ?? "");
    if (title !== "") {
      const counts: FacetCounts = this.#titles.get(title) ?? new Map();
      this.#titles.set(title, counts);
      countOne(counts, facet);
    }
    const learnable = namedLocal(contact);
    if (learnable !== null) this.#named.push(learnable);
  }

  facets(): string {
    return writeFacetCounts(this.#facets);
  }

  titles(): TitleCounts[] {
    return [...this.#titles].map(([title, counts]) => [this.#domainId, title, writeFacetCounts(counts)]);
  }

  patterns(): PatternCount[] {
    return learnPatterns(this.#named);
  }
}

function countOne(counts: FacetCounts, facet: Facet): void {
  counts.set(facet, (counts.get(facet) ?? 0) + 1);
}

/** The parts from which a pattern can be learnt; `null` without evidence or without both names. */
export function namedLocal({ address, firstName, lastName, evidence }: Contact): NamedLocal | null {
  if (firstName === null || lastName === null || evidence.length === 0) return null;
  return { local: address.slice(0, address.lastIndexOf("@")), firstName, lastName };
}
