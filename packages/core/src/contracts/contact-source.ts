export type AddressType = "personal" | "generic";

export const SENIORITIES = ["junior", "senior", "executive"] as const;
export type Seniority = (typeof SENIORITIES)[number];

export const DEPARTMENTS = [
  "executive",
  "it",
  "finance",
  "management",
  "sales",
  "legal",
  "support",
  "hr",
  "marketing",
  "communication",
  "education",
  "design",
  "health",
  "operations",
] as const;
export type Department = (typeof DEPARTMENTS)[number];

/** A page on which an address was found. Dates are `YYYY-MM-DD`, UTC. */
export interface ContactEvidence {
  domain: string;
  uri: string;
  extractedOn: string;
  lastSeenOn: string;
  stillOnPage: boolean;
}

/** An address and whose it is. What is not known is `null`. */
export interface Contact {
  /** As {@link normaliseAddress} gives it: lower case, the domain as A-labels. */
  address: string;
  type: AddressType;
  /** That the address is right: an integer from 0 to 100. */
  confidence: number;
  firstName: string | null;
  lastName: string | null;
  position: string | null;
  seniority: Seniority | null;
  department: Department | null;
  /** Profile on a professional network: its identifier, and its URL. */
  networkA: string | null;
  networkAUrl: string | null;
  /** Handle on a short-message network. */
  networkB: string | null;
  phoneNumber: string | null;
  /** At most {@link MAX_EVIDENCE}, seen last first. */
  evidence: readonly ContactEvidence[];
}

/** Pages that are told of an address, at most. */
export const MAX_EVIDENCE = 20;

/** How many of a domain's addresses are formed alike. */
export interface PatternCount {
  /** Of `{first}`, `{last}`, `{f}`, `{l}` and literal text, e.g. `{first}.{last}`. */
  pattern: string;
  /** Addresses with evidence that are formed so, an integer of at least 1. */
  count: number;
}

/** What is known of a domain. */
export interface DomainFacts {
  /** Name of the organisation; `null` where it is not known. */
  organization: string | null;
  /** How its addresses are formed, the most frequent first; see {@link learnPatterns}. */
  patterns: readonly PatternCount[];
}

/** Which contacts of a domain; what is absent does not matter. Of a list, any. */
export interface ContactFilter {
  type?: AddressType;
  seniorities?: readonly Seniority[];
  departments?: readonly Department[];
}

export interface ContactPage {
  /** By confidence, the highest first; of equal ones by address, in the order of its bytes. */
  contacts: Contact[];
  /** How many match, on all pages together. */
  total: number;
}

export interface ContactCounts {
  total: number;
  personal: number;
  generic: number;
  /** Each department and seniority that has any. */
  departments: Partial<Record<Department, number>>;
  seniorities: Partial<Record<Seniority, number>>;
}

/**
 * What the lookup knows of people's addresses. Domains are lower-case A-labels, addresses are normalised. All numbers of
 * one answer fit together: paging through `search` gives exactly `total` contacts, each once, as long as nothing changes.
 * Failures reject with `store_unavailable`, as do calls once it is closed.
 */
export interface ContactSource {
  /** `null` where nothing is known, not even an address. */
  domain(domain: string): Promise<DomainFacts | null>;
  /** The domain of the organisation of this name, in whatever case; `null` where none is known. Of several, that with the most addresses. */
  domainOf(company: string): Promise<string | null>;
  /**
   * @param page `limit` from 1 to 100; `offset` from 0, beyond the end there are no contacts.
   */
  search(
    domain: string,
    filter: ContactFilter,
    page: { limit: number; offset: number },
  ): Promise<ContactPage>;
  /** `null` where the address is not known. */
  find(address: string): Promise<Contact | null>;
  /**
   * Those of a domain with this name, as {@link normaliseName} compares names; at most 10, by confidence. None where it leaves
   * nothing of either.
   */
  findByName(domain: string, firstName: string, lastName: string): Promise<Contact[]>;
  /** @param type counts only those; absent: all. */
  count(domain: string, type?: AddressType): Promise<ContactCounts>;
  /**
   * Forgets everything about an address; its domain stays known while its organisation is.
   * @returns whether there was something to forget.
   */
  erase(address: string): Promise<boolean>;
  /** Forgets everything about a domain and its addresses. @returns whether there was something to forget. */
  eraseDomain(domain: string): Promise<boolean>;
  /** Calling it twice is allowed. */
  close(): Promise<void>;
}
