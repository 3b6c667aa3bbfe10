import { checkOptions } from "../../check-options.ts";
import { iterable } from "../../contract-rules.ts";
import type {
  AddressType,
  Contact,
  ContactCounts,
  ContactFilter,
  ContactPage,
  ContactSource,
  ContactVerification,
  DomainFacts,
  PatternCount,
  RequiredField,
} from "../../contracts/contact-source.ts";
import { MAX_EVIDENCE, MAX_LINKED_DOMAINS, verifiedConfidence } from "../../contracts/contact-source.ts";
import { ServiceError } from "../../errors.ts";
import { named, type Options, preset, text } from "../../option-rules.ts";
import { mainAddress } from "../address/parse-address.ts";
import {
  linkedName,
  organizationKey,
  organizationPrefix,
  organizationRank,
} from "../names/organization-key.ts";
import { namesakes } from "../names/same-name.ts";
import { learnPatterns, namedLocal } from "../patterns/learn-patterns.ts";
import { titleKey } from "../titles/title-key.ts";

const RULES = {
  /** The initial contacts; of several with the same address, the last. @default none */
  contacts: preset([], iterable<Contact>("a list of contacts, or anything to iterate over")),
  /** Names of organisations by domain, as lower-case A-labels. @default none */
  organizations: preset({}, named(text("the name of an organisation", () => true))),
};

export interface MemoryContactSourceOptions extends Options<typeof RULES> {}

/** A {@link ContactSource} that can load more data. */
export interface MemoryContactSource extends ContactSource {
  /** Adds contacts and organisations; a contact replaces the one with the same address. */
  load(data: MemoryContactSourceOptions): Promise<void>;
}

interface KnownDomain {
  organization: string | null;
  /** Of the organisation; `null` without one. */
  organizationKey: string | null;
  acceptsAll?: boolean;
  /** With the confidence as loaded. */
  contacts: Map<string, Contact>;
  /** In the order of `search`; `null` after a change. */
  inOrder: Contact[] | null;
  /** `null` after a change. */
  patterns: PatternCount[] | null;
}

/** Contacts in this process's memory: for tests, trials and lists that fit into memory. */
export function createMemoryContactSource(options: MemoryContactSourceOptions = {}): MemoryContactSource {
  return new ContactsInMemory(options);
}

class ContactsInMemory implements MemoryContactSource {
  readonly #domains = new Map<string, KnownDomain>();
  #isClosed = false;

  constructor(options: MemoryContactSourceOptions) {
    this.#add("createMemoryContactSource", options);
  }

  async load(data: MemoryContactSourceOptions): Promise<void> {
    this.#mustBeOpen();
    this.#add("load", data);
  }

  async domain(domain: string): Promise<DomainFacts | null> {
    this.#mustBeOpen();
    const known = this.#domains.get(domain);
    if (known === undefined) return null;
    known.patterns ??= learnPatterns(this.#contactsOf(domain).flatMap((each) => namedLocal(each) ?? []));
    const { organization, acceptsAll } = known;
    return {
      organization,
      patterns: structuredClone(known.patterns),
      ...(acceptsAll === undefined ? {} : { acceptsAll }),
      linkedDomains: organization === null ? [] : this.#linkedTo(domain, organization),
    };
  }

  async domainOf(company: string, isExcluded = (_: string) => false): Promise<string | null> {
    this.#mustBeOpen();
    const prefix = organizationPrefix(organizationKey(company));
    const [found] = [...this.#domains]
      .filter(([domain, known]) => known.organizationKey?.startsWith(prefix) && !isExcluded(domain))
      .map(([domain, { organization, contacts }]) => ({
        domain,
        rank: organizationRank(organization ?? "", company),
        size: contacts.size,
      }))
      .sort((a, b) => a.rank - b.rank || b.size - a.size);
    return found?.domain ?? null;
  }

  async search(
    domain: string,
    filter: ContactFilter,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<ContactPage> {
    this.#mustBeOpen();
    const matching = this.#contactsOf(domain).filter((contact) => matches(contact, filter));
    return {
      contacts: matching.slice(offset, offset + limit).map((contact) => structuredClone(contact)),
      total: matching.length,
    };
  }

  async find(address: string): Promise<Contact | null> {
    this.#mustBeOpen();
    const contact = this.#domains.get(domainOf(address))?.contacts.get(address);
    return contact === undefined ? null : structuredClone(shown(contact));
  }

  async recordVerification(
    address: string,
    verification: ContactVerification,
    acceptsAll: boolean | null,
  ): Promise<void> {
    this.#mustBeOpen();
    const known = this.#domains.get(domainOf(address));
    if (known === undefined) return;
    if (acceptsAll !== null) known.acceptsAll = acceptsAll;
    const contact = known.contacts.get(address);
    if (contact === undefined) return;
    known.contacts.set(address, { ...contact, verification: { ...verification } });
    known.inOrder = known.patterns = null;
  }

  async findByName(domain: string, firstName: string, lastName: string): Promise<Contact[]> {
    this.#mustBeOpen();
    const found = namesakes(this.#contactsOf(domain), firstName, lastName);
    return found.map((contact) => structuredClone(contact));
  }

  async count(domain: string, type?: AddressType): Promise<ContactCounts> {
    this.#mustBeOpen();
    return countOf(this.#contactsOf(domain), type);
  }

  async erase(address: string): Promise<number> {
    this.#mustBeOpen();
    const domain = domainOf(address);
    const known = this.#domains.get(domain);
    const erased = [...(known?.contacts.keys() ?? [])].filter((each) => isCovered(each, address));
    if (known === undefined || erased.length === 0) return 0;
    for (const each of erased) known.contacts.delete(each);
    known.inOrder = known.patterns = null;
    if (known.contacts.size === 0 && known.organization === null) this.#domains.delete(domain);
    return erased.length;
  }

  async eraseDomain(domain: string): Promise<number> {
    this.#mustBeOpen();
    const erased = [...this.#domains].filter(([each]) => each === domain || each.endsWith(`.${domain}`));
    for (const [each] of erased) this.#domains.delete(each);
    return erased.reduce((sum, [, { contacts }]) => sum + 1 + contacts.size, 0);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#domains.clear();
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw new ServiceError("store_unavailable", "The contact source is closed");
  }

  #knownDomain(domain: string): KnownDomain {
    const known = this.#domains.get(domain) ?? emptyDomain();
    this.#domains.set(domain, known);
    return known;
  }

  #add(by: string, data: MemoryContactSourceOptions): void {
    const { contacts, organizations } = checkOptions(by, data, RULES);
    for (const contact of contacts) {
      const known = this.#knownDomain(domainOf(contact.address));
      known.contacts.set(contact.address, tidied(contact));
      known.inOrder = known.patterns = null;
    }
    for (const [domain, organization] of Object.entries(organizations)) {
      Object.assign(this.#knownDomain(domain), {
        organization,
        organizationKey: organizationKey(organization),
      });
    }
  }

  #contactsOf(domain: string): Contact[] {
    const known = this.#domains.get(domain);
    if (known === undefined) return [];
    known.inOrder ??= [...known.contacts.values()].map(shown).sort(byConfidence);
    return known.inOrder;
  }

  #linkedTo(domain: string, organization: string): string[] {
    const key = organizationKey(organization);
    const name = linkedName(organization);
    return [...this.#domains]
      .filter(
        ([each, known]) =>
          each !== domain && known.organizationKey === key && linkedName(known.organization ?? "") === name,
      )
      .map(([each]) => each)
      .sort()
      .slice(0, MAX_LINKED_DOMAINS);
  }
}

function emptyDomain(): KnownDomain {
  return { organization: null, organizationKey: null, contacts: new Map(), inOrder: null, patterns: null };
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

/** Whether two addresses are equal, or the first is a subaddress of the second. */
function isCovered(address: string, by: string): boolean {
  return address === by || mainAddress(address) === by;
}

/** A copy that keeps only the allowed number of evidence pages. */
function tidied(contact: Contact): Contact {
  const { evidence, ...rest } = structuredClone(contact);
  const seenLastFirst = evidence.toSorted((a, b) => (b.lastSeenOn ?? "").localeCompare(a.lastSeenOn ?? ""));
  return { ...rest, evidence: seenLastFirst.slice(0, MAX_EVIDENCE) };
}

function shown(contact: Contact): Contact {
  return { ...contact, confidence: verifiedConfidence(contact.confidence, contact.verification) };
}

function byConfidence(a: Contact, b: Contact): number {
  // The order of JavaScript strings differs from that of their bytes beyond ASCII.
  return b.confidence - a.confidence || Buffer.compare(Buffer.from(a.address), Buffer.from(b.address));
}

function matches(contact: Contact, filter: ContactFilter): boolean {
  const { type, requiredFields, jobTitles } = filter;
  const title = jobTitles === undefined ? "" : titleKey(contact.position ?? "");
  return (
    (type === undefined || contact.type === type) &&
    isAmong(contact.seniority, filter.seniorities) &&
    isAmong(contact.department, filter.departments) &&
    isAmong(contact.verification?.status, filter.verificationStatuses) &&
    (requiredFields?.every((field) => IS_KNOWN[field](contact)) ?? true) &&
    (jobTitles?.some((key) => title.includes(key)) ?? true)
  );
}

function isAmong<T>(value: T | null | undefined, wanted: readonly T[] | undefined): boolean {
  return wanted === undefined || (value !== null && value !== undefined && wanted.includes(value));
}

const IS_KNOWN: Record<RequiredField, (contact: Contact) => boolean> = {
  full_name: ({ firstName, lastName }) => Boolean(firstName && lastName),
  position: ({ position }) => Boolean(position),
  phone_number: ({ phoneNumber }) => Boolean(phoneNumber),
};

function countOf(contacts: readonly Contact[], type: AddressType | undefined): ContactCounts {
  const counts: ContactCounts = { total: 0, personal: 0, generic: 0, departments: {}, seniorities: {} };
  for (const contact of contacts) {
    if (type !== undefined && contact.type !== type) continue;
    counts.total++;
    counts[contact.type]++;
    const { department, seniority } = contact;
    if (department !== null) counts.departments[department] = (counts.departments[department] ?? 0) + 1;
    if (seniority !== null) counts.seniorities[seniority] = (counts.seniorities[seniority] ?? 0) + 1;
  }
  return counts;
}
