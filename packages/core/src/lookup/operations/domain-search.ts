import type { ContactFilter, ContactPage, ContactSource } from "../../contracts/contact-source.ts";
import { DEPARTMENTS, SENIORITIES } from "../../contracts/contact-source.ts";
import { wholeParameter, wordParameter, wordsParameter } from "../http/query.ts";
import type { LookupContext } from "../lookup-context.ts";
import { emailEntry } from "./entries.ts";
import type { Answer, LookupOperation } from "./operation.ts";
import { SAMPLE_CONTACT, SAMPLE_DOMAIN, SAMPLE_ORGANIZATION } from "./samples.ts";
import { type FoundDomain, findDomain, parseSubject, type Subject } from "./subject.ts";

interface DomainSearch extends Subject {
  filter: ContactFilter;
  limit: number;
  offset: number;
}

/** So many addresses cost one point. */
const ADDRESSES_PER_POINT = 10;

export const domainSearch: LookupOperation<DomainSearch> = {
  parse(query) {
    const subject = parseSubject(query);
    const type = wordParameter(query, "type", ["personal", "generic"], "invalid_type");
    const seniorities = wordsParameter(query, "seniority", SENIORITIES, "invalid_seniority");
    const departments = wordsParameter(query, "department", DEPARTMENTS, "invalid_department");
    const limit = { min: 1, max: 100, default: 10, id: "pagination_error" } as const;
    const offset = { min: 0, max: Number.MAX_SAFE_INTEGER, default: 0, id: "pagination_error" } as const;
    return {
      ...subject,
      filter: {
        ...(type === null ? {} : { type }),
        ...(seniorities === null ? {} : { seniorities }),
        ...(departments === null ? {} : { departments }),
      },
      limit: wholeParameter(query, "limit", limit),
      offset: wholeParameter(query, "offset", offset),
    };
  },

  echo: ({ writtenDomain, company, filter, offset }) => ({
    domain: writtenDomain,
    company,
    type: filter.type ?? null,
    offset,
    seniority: filter.seniorities?.join(",") ?? null,
    department: filter.departments?.join(",") ?? null,
  }),

  async work(context, search, account) {
    const { limit, offset, filter } = search;
    const found = await findDomain(context, search);
    if (found === null) return answerOf(context, search, null, { contacts: [], total: 0 });
    const { domain } = found;
    const request = ["domain-search", domain, filter, limit, offset];
    const points = Math.ceil(limit / ADDRESSES_PER_POINT);
    const reservation = await context.meter.reserve(account, "searches", request, points);
    let cost = 0;
    try {
      const affordable = Math.min(limit, reservation.points * ADDRESSES_PER_POINT);
      const page = await searchUnsuppressed(context, found, filter, { limit: affordable, offset });
      cost = Math.ceil(page.contacts.length / ADDRESSES_PER_POINT);
      return await answerOf(context, search, domain, page);
    } finally {
      if (!reservation.isRepeat) await reservation.settle(cost);
    }
  },

  sample(context, search) {
    return {
      data: {
        domain: SAMPLE_DOMAIN,
        webmail: false,
        disposable: false,
        pattern: "{first}.{last}",
        organization: SAMPLE_ORGANIZATION,
        emails: [emailEntry(SAMPLE_CONTACT, context.settings)],
      },
      meta: { results: 1, limit: search.limit, offset: search.offset },
    };
  },
};

async function answerOf(
  { contacts, verifier, settings }: LookupContext,
  { limit, offset }: DomainSearch,
  domain: string | null,
  page: ContactPage,
): Promise<Answer> {
  const facts = domain === null ? null : await contacts.domain(domain);
  const [learnt] = domain === null || facts === null ? [] : await contacts.patterns(domain);
  return {
    data: {
      domain: facts === null ? null : domain,
      webmail: domain !== null && verifier.isWebmail(domain),
      disposable: domain !== null && verifier.isDisposable(domain),
      pattern: learnt?.pattern ?? null,
      organization: facts?.organization ?? null,
      emails: page.contacts.map((contact) => emailEntry(contact, settings)),
    },
    meta: { results: page.total, limit, offset },
  };
}

/**
 * A page without who asked to be left out. A source has them only where they were put into it behind the service's back: then
 * they are erased, so that what is counted is what can be shown.
 */
async function searchUnsuppressed(
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

/** @returns whether all were there to be erased: a source that cannot would be asked for ever. */
async function eraseAll(contacts: ContactSource, addresses: ReadonlySet<string>): Promise<boolean> {
  const erased: boolean[] = [];
  for (const address of addresses) erased.push(await contacts.erase(address));
  return erased.some((isErased) => isErased);
}

function without({ contacts, total }: ContactPage, hidden: ReadonlySet<string>): ContactPage {
  return { contacts: contacts.filter(({ address }) => !hidden.has(address)), total: total - hidden.size };
}
