import type { Account } from "../../contracts/accounts.ts";
import type { ContactFilter, ContactPage } from "../../contracts/contact-source.ts";
import type { Reservation } from "../accounts/meter.ts";
import { LookupProblem } from "../http/lookup-problem.ts";
import { wholeParameter, wordParameter, wordsParameter } from "../http/query.ts";
import type { LookupContext } from "../lookup-context.ts";
import { emailEntry } from "./entries.ts";
import {
  DEPARTMENT_SCHEMA,
  LIMIT_SCHEMA,
  OFFSET_SCHEMA,
  SENIORITY_SCHEMA,
  TYPE_SCHEMA,
} from "./filter-schemas.ts";
import type { Answer, LookupOperation } from "./operation.ts";
import { SAMPLE_CONTACT, SAMPLE_DOMAIN, SAMPLE_ORGANIZATION } from "./samples.ts";
import { searchUnsuppressed } from "./search-unsuppressed.ts";
import { findDomain, parseSubject, type Subject } from "./subject.ts";

interface DomainSearch extends Subject {
  filter: ContactFilter;
  limit: number;
  offset: number;
  /** Whether `offset` was given. */
  hasOffset: boolean;
}

/** So many addresses cost one point. */
const ADDRESSES_PER_POINT = 10;

export const domainSearch: LookupOperation<DomainSearch> = {
  parse(query) {
    const subject = parseSubject(query);
    const type = wordParameter(query, "type", TYPE_SCHEMA, "invalid_type");
    const seniorities = wordsParameter(query, "seniority", SENIORITY_SCHEMA, "invalid_seniority");
    const departments = wordsParameter(query, "department", DEPARTMENT_SCHEMA, "invalid_department");
    return {
      ...subject,
      filter: {
        ...(type === null ? {} : { type }),
        ...(seniorities === null ? {} : { seniorities }),
        ...(departments === null ? {} : { departments }),
      },
      limit: wholeParameter(query, "limit", LIMIT_SCHEMA, "pagination_error"),
      offset: wholeParameter(query, "offset", OFFSET_SCHEMA, "pagination_error"),
      hasOffset: query.text("offset") !== null,
    };
  },

  echo: ({ writtenDomain, company, filter, offset, hasOffset }) => ({
    domain: writtenDomain,
    company,
    type: filter.type ?? null,
    offset: hasOffset ? offset : null,
    seniority: filter.seniorities?.join(",") ?? null,
    department: filter.departments?.join(",") ?? null,
  }),

  async work(context, search, account) {
    const { limit, offset, filter } = search;
    const found = await findDomain(context, search);
    if (found === null) return answerOf(context, search, null, { contacts: [], total: 0 });
    const { domain } = found;
    const request = ["domain-search", domain, filter, limit, offset];
    const room = await reserve(context, account, request, Math.ceil(limit / ADDRESSES_PER_POINT));
    let cost = 0;
    try {
      const affordable = Math.min(limit, room.points * ADDRESSES_PER_POINT);
      const page = await searchUnsuppressed(context, found, filter, { limit: affordable, offset });
      cost = Math.ceil(page.contacts.length / ADDRESSES_PER_POINT);
      return await answerOf(context, search, domain, page);
    } finally {
      await room.settle(cost);
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

/**
 * Room for a page. One that was paid for before is free; what has been found since then, or was beyond the allowance, costs the
 * difference.
 */
async function reserve(
  { meter }: LookupContext,
  account: Account | null,
  request: readonly unknown[],
  points: number,
): Promise<Reservation> {
  const first = await meter.reserve(account, "searches", request, points);
  if (!first.isRepeat) return first;
  const missing = points - first.points;
  const more =
    missing > 0
      ? await meter.reserve(account, "searches", [...request, "more"], missing).catch(orNone)
      : null;
  return {
    points: first.points + (more?.points ?? 0),
    isRepeat: true,
    settle: async (cost) => more?.settle(Math.max(0, cost - first.points)),
  };
}

/** Who has no more points gets what was paid for. */
function orNone(error: unknown): null {
  if (error instanceof LookupProblem && error.id === "too_many_requests") return null;
  throw error;
}

async function answerOf(
  { contacts, verifier, settings }: LookupContext,
  { limit, offset }: DomainSearch,
  domain: string | null,
  page: ContactPage,
): Promise<Answer> {
  const facts = domain === null ? null : await contacts.domain(domain);
  return {
    data: {
      domain: facts === null ? null : domain,
      webmail: domain !== null && verifier.isWebmail(domain),
      disposable: domain !== null && verifier.isDisposable(domain),
      pattern: facts?.patterns[0]?.pattern ?? null,
      organization: facts?.organization ?? null,
      emails: page.contacts.map((contact) => emailEntry(contact, settings)),
    },
    meta: { results: page.total, limit, offset },
  };
}
