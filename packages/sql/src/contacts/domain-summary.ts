import {
  learnPatterns,
  namedLocal,
  organizationKey,
  type PatternCount,
  titleKey,
} from "@outrigger/core/lookup";
import { type FacetCounts, facetOf, writeFacetCounts } from "./facets.ts";
import type { StoredContact } from "./packed-contact.ts";
import { doubtOf } from "./read-in-order.ts";

/** Number of contacts between two marks. A page is found by skipping at most this many. */
const MARK_EVERY = 64;

/** Position of a contact in the order of its domain. */
export type Mark = [domainId: number, position: number, doubt: number, address: string];

/** Number of contacts of a domain with a title, by facet. */
export type TitleCounts = [domainId: number, title: string, facets: string];

type NamedLocal = NonNullable<ReturnType<typeof namedLocal>>;

/** Counts, marks, patterns and the organisation of a domain. Contacts must be added in order. */
export class DomainSummary {
  readonly marks: Mark[] = [];
  readonly #domainId: number;
  readonly #facets: FacetCounts = new Map();
  readonly #titles = new Map<string, FacetCounts>();
  readonly #named: NamedLocal[] = [];
  readonly #organizations = new Map<string, number>();
  #position = 0;

  constructor(domainId: number) {
    this.#domainId = domainId;
  }

  add(contact: StoredContact): void {
    if (this.#position > 0 && this.#position % MARK_EVERY === 0) {
      this.marks.push([this.#domainId, this.#position, doubtOf(contact), contact.address]);
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
    if (contact.organization !== null) countOne(this.#organizations, contact.organization);
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

  /** The name that most contacts have, in its most frequent spelling; of several the first. `null` without one. */
  organization(): string | null {
    const total = new Map<string, number>();
    for (const [name, count] of this.#organizations) {
      const key = organizationKey(name);
      total.set(key, (total.get(key) ?? 0) + count);
    }
    const totalOf = (name: string) => total.get(organizationKey(name)) ?? 0;
    const [best] = [...this.#organizations].sort(
      ([a, countOfA], [b, countOfB]) => totalOf(b) - totalOf(a) || countOfB - countOfA || (a < b ? -1 : 1),
    );
    return best?.[0] ?? null;
  }
}

function countOne<Name>(counts: Map<Name, number>, name: Name): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
