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

/** A page on which an address was found. Dates are `YYYY-MM-DD`, UTC; both are `null` if they are unknown. */
export interface ContactEvidence {
  domain: string;
  uri: string;
  extractedOn: string | null;
  lastSeenOn: string | null;
  stillOnPage: boolean;
}

export const VERIFICATION_STATUSES = [
  "valid",
  "accept_all",
  "unknown",
  "invalid",
  "webmail",
  "disposable",
] as const;
export type VerificationStatus = (typeof VERIFICATION_STATUSES)[number];

/** The latest verdict on an address. */
export interface ContactVerification {
  status: VerificationStatus;
  /** `YYYY-MM-DD`, UTC. */
  date: string;
}

/** An address and its owner. Unknown facts are `null`. */
export interface Contact {
  /** As {@link normaliseAddress} gives it: lower case, the domain as A-labels. */
  address: string;
  type: AddressType;
  /**
   * Confidence that the address is correct: an integer from 0 to 100. A source returns 0 for an address whose
   * verification is `invalid`, and the stored number again after another verdict.
   */
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
  /** Absent for an address that was never verified. */
  verification?: ContactVerification;
  /** At most {@link MAX_EVIDENCE} pages, most recently seen first, those without dates last. */
  evidence: readonly ContactEvidence[];
}

/** The confidence that a source returns for an address: 0 if its verification is `invalid`. */
export function verifiedConfidence(
  confidence: number,
  verification: Pick<ContactVerification, "status"> | undefined,
): number {
  return verification?.status === "invalid" ? 0 : confidence;
}

/** Maximum number of evidence pages per address. */
export const MAX_EVIDENCE = 20;

/** How many addresses of a domain follow one pattern. */
export interface PatternCount {
  /** Made of `{first}`, `{last}`, `{f}`, `{l}` and literal text, e.g. `{first}.{last}`. */
  pattern: string;
  /**
   * Number of known addresses that follow the pattern, an integer of at least 1. At domains with both kinds, those that are
   * on a page or verified count twice as much as the others, and all together as many as there are.
   */
  count: number;
  /**
   * How these addresses write names that can be written in several ways: the number of addresses by choice, e.g.
   * `{ "umlaut.two": 3, "particle.dropped": 1 }`. Absent if none of them shows a choice.
   */
  habits?: Readonly<Record<string, number>>;
  /**
   * Number of addresses from which the patterns of the domain were learned, if some follow none of them.
   * Absent if each follows one.
   */
  of?: number;
}

/** The known facts about a domain. */
export interface DomainFacts {
  /** Name of the organisation; `null` if unknown. */
  organization: string | null;
  /** The patterns of its addresses, most frequent first; see {@link learnPatterns}. */
  patterns: readonly PatternCount[];
  /** Whether its mail server accepts any address, as the last verification found. @default unknown */
  acceptsAll?: boolean;
  /**
   * Other known domains of the same organisation, ignoring case, in byte order: at most {@link MAX_LINKED_DOMAINS}.
   * @default none
   */
  linkedDomains?: readonly string[];
}

/** Maximum number of linked domains per domain. */
export const MAX_LINKED_DOMAINS = 100;

export const REQUIRED_FIELDS = ["full_name", "position", "phone_number"] as const;
/** A fact that a contact can be required to have. `full_name`: a first and a last name. */
export type RequiredField = (typeof REQUIRED_FIELDS)[number];

/** Selects contacts of a domain. An absent field matches all; a list matches any of its values. */
export interface ContactFilter {
  type?: AddressType;
  seniorities?: readonly Seniority[];
  departments?: readonly Department[];
  /** All of these must be known. */
  requiredFields?: readonly RequiredField[];
  /** A contact that was never verified has none of them. */
  verificationStatuses?: readonly VerificationStatus[];
  /** Keys of `titleKey`: the key of the position must contain one of them. */
  jobTitles?: readonly string[];
}

export interface ContactPage {
  /** Ordered by confidence, highest first; equal ones by address, in byte order. */
  contacts: Contact[];
  /** Number of matching contacts on all pages. */
  total: number;
}

export interface ContactCounts {
  total: number;
  personal: number;
  generic: number;
  /** Counts per department and seniority; a value without contacts is absent. */
  departments: Partial<Record<Department, number>>;
  seniorities: Partial<Record<Seniority, number>>;
}

/**
 * The lookup's data on email addresses. Domains are lower-case A-labels; addresses are normalised. The
 * numbers of one answer are consistent: while nothing changes, paging through `search` yields exactly `total`
 * contacts, each once. Failures reject with `store_unavailable`; so does every call after `close`.
 */
export interface ContactSource {
  /** `null` if nothing is known about the domain, not even an address. */
  domain(domain: string): Promise<DomainFacts | null>;
  /**
   * The domain of the organisation with this name in its usual spellings, as `organizationKey` compares them; `null` if
   * unknown. The best by `organizationRank` comes first: the same name, then one with the same legal form, then one without, then
   * any other. Of several, the one with the most addresses.
   * @param isExcluded tells of a domain whether it is no company's, and is skipped.
   */
  domainOf(company: string, isExcluded?: (domain: string) => boolean): Promise<string | null>;
  /**
   * @param page `limit` from 1 to 100; `offset` from 0. An offset beyond the end yields no contacts.
   */
  search(
    domain: string,
    filter: ContactFilter,
    page: { limit: number; offset: number },
  ): Promise<ContactPage>;
  /** `null` if the address is unknown. */
  find(address: string): Promise<Contact | null>;
  /**
   * The contacts of a domain with this name, as {@link namesakes} selects them: at most 10, those with the
   * same initials first, then by confidence, in another usual spelling only if there is none in this one. A source with stored keys selects by
   * {@link normaliseName} and {@link spellingKeys} first. None if normalising leaves either name empty.
   */
  findByName(domain: string, firstName: string, lastName: string): Promise<Contact[]>;
  /**
   * Stores a verdict with its contact, and what the verification showed about the contact's domain. Unknown
   * addresses and domains stay unknown. A source without this method keeps no verdicts.
   * @param acceptsAll `null`: the verification did not show it.
   */
  recordVerification?(
    address: string,
    verification: ContactVerification,
    acceptsAll: boolean | null,
  ): Promise<void>;
  /** @param type counts only this type; absent: all. */
  count(domain: string, type?: AddressType): Promise<ContactCounts>;
  /**
   * Deletes all data on an address and its subaddresses (`name+tag@domain`). Their domain stays known while
   * its organisation is known. No deleted byte stays in files that the source writes itself.
   * @returns the number of deleted contacts.
   */
  erase(address: string): Promise<number>;
  /**
   * Deletes all data on a domain, its subdomains and their addresses, as {@link ContactSource.erase} does.
   * @returns the number of deleted domains and contacts.
   */
  eraseDomain(domain: string): Promise<number>;
  /** Calling it twice is allowed. */
  close(): Promise<void>;
}
