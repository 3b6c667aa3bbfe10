import type {
  ContactFilter,
  ContactPage,
  ContactSource,
  DomainFacts,
} from "../../contracts/contact-source.ts";
import { patternOf } from "../../schema/json-schema.ts";
import { isPrivateDomain, organizationDomain } from "../address/mail-domain.ts";
import type { LookupContext } from "../lookup-context.ts";
import { claimedDomain, invalidDomain, LookupProblem } from "../lookup-problem.ts";
import { type Given, missing } from "./given.ts";
import { LOOKUP_PARAMETERS, MIN_COMPANY_LENGTH } from "./parameters.ts";

/** The organisation of a look-up: `domain`, or `company` if the domain is absent. */
export interface SubjectParameters {
  /** A domain, or a URL or an address at it. A leading `www.` is ignored. */
  domain?: string;
  /** At least 3 characters. */
  company?: string;
}

/** The organisation of a look-up, checked. */
export interface Subject {
  /** As A-labels; `null` if only the company is given. */
  domain: string | null;
  company: string | null;
  /** As the caller wrote it. */
  writtenDomain: string | null;
}

const COMPANY = patternOf(LOOKUP_PARAMETERS.company);

/** Reads `domain`, which takes precedence, or `company`. */
export function checkSubject(given: Given): Subject {
  const writtenDomain = given.text("domain");
  const company = given.text("company");
  if (writtenDomain === null && company === null) {
    throw missing(given, "the domain or the company");
  }
  const domain = writtenDomain === null ? null : organizationDomain(writtenDomain);
  if (writtenDomain !== null && domain === null) {
    throw invalidDomain();
  }
  if (company !== null && !COMPANY.test(company)) {
    throw new LookupProblem("wrong_params", "company must not have control characters");
  }
  if (writtenDomain === null && company !== null && [...company.trim()].length < MIN_COMPANY_LENGTH) {
    throw new LookupProblem("wrong_params", `company must have at least ${MIN_COMPANY_LENGTH} characters`);
  }
  return { domain, company, writtenDomain };
}

/** A domain that is not suppressed. */
export interface FoundDomain {
  domain: string;
  /** Whether an address of it is suppressed. */
  hasSuppressed: boolean;
}

/** The requested domain; `null` for an unknown company. Rejects for a suppressed domain. */
export async function findDomain(context: LookupContext, subject: Subject): Promise<FoundDomain | null> {
  const isPrivate = (domain: string) => isPrivateDomain(context.lists, domain);
  const domain =
    subject.domain ?? (await context.contacts.domainOf(subject.company?.trim() ?? "", isPrivate));
  if (domain === null || (subject.domain === null && isPrivate(domain))) return null;
  const suppressed = await context.suppressions.ofDomain(domain);
  const isSite = /^(?:[a-z][a-z0-9+.-]*:)?(?:\/\/)?(?:[^/?#]*@)?www\./i.test(
    subject.writtenDomain?.trim() ?? "",
  );
  // The name of the site may be suppressed alone.
  if (suppressed === "all" || (isSite && (await context.suppressions.ofDomain(`www.${domain}`)) === "all")) {
    throw claimedDomain();
  }
  return { domain, hasSuppressed: suppressed === "some" };
}

/**
 * A page without suppressed addresses. A source contains those only if they were written to it directly. They
 * are then erased, so that counts match the addresses that can be shown.
 */
export async function searchUnsuppressed(
  { contacts, suppressions }: LookupContext,
  { domain, hasSuppressed }: FoundDomain,
  filter: ContactFilter,
  page: { limit: number; offset: number },
): Promise<ContactPage> {
  for (;;) {
    const found = await contacts.search(domain, filter, page);
    if (!hasSuppressed) return found;
    const hidden = await suppressions.among(found.contacts.map(({ address }) => address));
    if (hidden.size === 0) return found;
    if (!(await eraseAll(contacts, hidden))) return without(found, hidden);
  }
}

/** The facts about a domain; of a private one only what its mail server accepts. */
export async function factsOf(
  { contacts, lists }: LookupContext,
  domain: string,
): Promise<DomainFacts | null> {
  const facts = await contacts.domain(domain);
  if (facts === null || !isPrivateDomain(lists, domain)) return facts;
  return { ...facts, organization: null, patterns: [], linkedDomains: [] };
}

/** The linked domains that are neither private nor suppressed. */
export async function unsuppressedLinks(
  { suppressions, lists }: LookupContext,
  facts: DomainFacts | null,
): Promise<string[]> {
  const linked = facts?.linkedDomains?.filter((each) => !isPrivateDomain(lists, each)) ?? [];
  const hidden = await suppressions.among(linked);
  return linked.filter((each) => !hidden.has(each));
}

/**
 * Maximum number of contacts per domain that are checked before counting: a larger count reveals no person.
 */
const MAX_CHECKED = 1000;
const PAGE = 100;

/** Erases the suppressed addresses of a domain that a source still contains, so that they are not counted. */
export async function eraseSuppressed(context: LookupContext, found: FoundDomain): Promise<void> {
  if (!found.hasSuppressed) return;
  for (let offset = 0; offset < MAX_CHECKED; offset += PAGE) {
    const { total } = await searchUnsuppressed(context, found, {}, { limit: PAGE, offset });
    if (total <= offset + PAGE) return;
  }
}

/** @returns whether any address was erased: a source that erases none would otherwise be searched forever. */
async function eraseAll(contacts: ContactSource, addresses: ReadonlySet<string>): Promise<boolean> {
  let erased = 0;
  for (const address of addresses) erased += await contacts.erase(address);
  return erased > 0;
}

function without({ contacts, total }: ContactPage, hidden: ReadonlySet<string>): ContactPage {
  return { contacts: contacts.filter(({ address }) => !hidden.has(address)), total: total - hidden.size };
}
