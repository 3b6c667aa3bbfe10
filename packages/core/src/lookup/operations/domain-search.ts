import type { Account } from "../../contracts/accounts.ts";
import type {
  AddressType,
  ContactFilter,
  ContactPage,
  Department,
  RequiredField,
  Seniority,
} from "../../contracts/contact-source.ts";
import type { Quote } from "../accounts/meter.ts";
import type { DomainSearchAnswer } from "../answers.ts";
import type { LookupContext } from "../lookup-context.ts";
import { isLookupProblem, LookupProblem } from "../lookup-problem.ts";
import { titleKey } from "../titles/title-key.ts";
import { emailEntry, organizationFields } from "./entries.ts";
import { type Given, wholeOf, wordOf, wordsOf } from "./given.ts";
import type { Found, LookupOperation } from "./operation.ts";
import { LOOKUP_PARAMETERS, MAX_JOB_TITLES, type SearchedStatus } from "./parameters.ts";
import { SAMPLE_CONTACT, SAMPLE_DOMAIN, SAMPLE_ORGANIZATION } from "./samples.ts";
import {
  checkSubject,
  factsOf,
  findDomain,
  type Subject,
  type SubjectParameters,
  searchUnsuppressed,
  unsuppressedLinks,
} from "./subject.ts";

/** Selects addresses of an organisation. */
export interface DomainSearchParameters extends SubjectParameters {
  type?: AddressType;
  /** Any of these. @default all */
  seniority?: readonly Seniority[];
  /** Any of these. @default all */
  department?: readonly Department[];
  /** All of these must be known. `full_name`: a first and a last name. @default any */
  requiredField?: readonly RequiredField[];
  /** Any of these as the latest verdict. @default all, and addresses without a verdict */
  verificationStatus?: readonly SearchedStatus[];
  /**
   * Any of these, at most 20: whole words of the job title, side by side. Case, accents and words such as `of` are
   * ignored. @default all
   */
  jobTitles?: readonly string[];
  /** 0 to 100; 0 is the default. @default 10 */
  limit?: number;
  /** @default 0 */
  offset?: number;
}

type Data = DomainSearchAnswer["data"];
type Params = DomainSearchAnswer["meta"]["params"];
type Meta = Omit<DomainSearchAnswer["meta"], "params">;

interface DomainSearch extends Subject {
  filter: ContactFilter;
  /** The job titles as the caller wrote them. */
  writtenTitles: string | null;
  limit: number;
  offset: number;
  /** Whether `offset` was given. */
  hasOffset: boolean;
}

const ADDRESSES_PER_POINT = 10;

export const domainSearch: LookupOperation<DomainSearch, Data, Params, Meta> = {
  parameters: [
    "domain",
    "company",
    "limit",
    "offset",
    "type",
    "seniority",
    "department",
    "requiredField",
    "verificationStatus",
    "jobTitles",
  ],

  check(given) {
    const subject = checkSubject(given);
    const type = wordOf(given, "type", LOOKUP_PARAMETERS.type, "invalid_type");
    const seniorities = wordsOf(given, "seniority", LOOKUP_PARAMETERS.seniority, "invalid_seniority");
    const departments = wordsOf(given, "department", LOOKUP_PARAMETERS.department, "invalid_department");
    const requiredFields = wordsOf(given, "requiredField", LOOKUP_PARAMETERS.requiredField, "wrong_params");
    const statuses = wordsOf(
      given,
      "verificationStatus",
      LOOKUP_PARAMETERS.verificationStatus,
      "wrong_params",
    );
    const jobTitles = jobTitlesOf(given);
    if (given.text("location") !== null) {
      throw new LookupProblem("wrong_params", "location is not supported: the data have no locations");
    }
    return {
      ...subject,
      filter: {
        ...(type === null ? {} : { type }),
        ...(seniorities === null ? {} : { seniorities }),
        ...(departments === null ? {} : { departments }),
        ...(requiredFields === null ? {} : { requiredFields }),
        ...(statuses === null ? {} : { verificationStatuses: statuses }),
        ...(jobTitles === null ? {} : { jobTitles: jobTitles.keys }),
      },
      writtenTitles: jobTitles?.written ?? null,
      limit:
        wholeOf(given, "limit", LOOKUP_PARAMETERS.limit, "pagination_error") ||
        LOOKUP_PARAMETERS.limit.default,
      offset: wholeOf(given, "offset", LOOKUP_PARAMETERS.offset, "pagination_error"),
      hasOffset: given.number("offset") !== null,
    };
  },

  echo: ({ writtenDomain, company, filter, writtenTitles, offset, hasOffset }) => ({
    domain: writtenDomain,
    company,
    type: filter.type ?? null,
    offset: hasOffset ? offset : null,
    seniority: filter.seniorities?.join(",") ?? null,
    department: filter.departments?.join(",") ?? null,
    required_field: filter.requiredFields?.join(",") ?? null,
    verification_status: filter.verificationStatuses?.join(",") ?? null,
    job_titles: writtenTitles,
  }),

  async work(context, search, account) {
    const { limit, offset, filter } = search;
    const found = await findDomain(context, search);
    if (found === null) return describe(context, search, null, { contacts: [], total: 0 });
    const { domain } = found;
    const request = ["domain-search", domain, filter, limit, offset];
    const quote = await quoteOf(context, account, request, Math.ceil(limit / ADDRESSES_PER_POINT));
    const affordable = Math.min(limit, quote.points * ADDRESSES_PER_POINT);
    let answer: Found<Data, Meta> | null = null;
    let cost = 0;
    let paid = 0;
    try {
      const page = await searchUnsuppressed(context, found, filter, { limit: affordable, offset });
      answer = await describe(context, { ...search, limit: affordable }, domain, page);
      cost = Math.ceil(page.contacts.length / ADDRESSES_PER_POINT);
    } finally {
      paid = await quote.charge(cost);
    }
    return paid < cost ? shortened(answer, paid * ADDRESSES_PER_POINT) : answer;
  },

  sample(context, search) {
    return {
      data: {
        domain: SAMPLE_DOMAIN,
        webmail: false,
        pattern: "{first}.{last}",
        organization: SAMPLE_ORGANIZATION,
        emails: [emailEntry(SAMPLE_CONTACT, context.settings)],
        disposable: false,
        accept_all: false,
        linked_domains: [],
        ...organizationFields(context.settings.networkNames),
      },
      meta: { results: 1, limit: search.limit, offset: search.offset },
    };
  },
};

/** Job titles as written, and their keys, each once and sorted, so that equal lists are equal. */
function jobTitlesOf(given: Given): { written: string; keys: string[] } | null {
  const titles = given
    .words("jobTitles")
    ?.map((title) => title.trim())
    .filter((title) => title !== "");
  if (titles === undefined) return null;
  const keys = titles.map(titleKey);
  if (titles.length === 0 || titles.length > MAX_JOB_TITLES || keys.includes("")) {
    const name = given.nameOf("jobTitles");
    throw new LookupProblem(
      "wrong_params",
      `${name} must be 1 to ${MAX_JOB_TITLES} titles, each with at least one word`,
    );
  }
  return { written: titles.join(","), keys: [...new Set(keys)].sort() };
}

/** What a page may cost. One that was paid for earlier in the month costs only the addresses added since. */
async function quoteOf(
  { meter }: LookupContext,
  account: Account | null,
  request: readonly unknown[],
  points: number,
): Promise<Pick<Quote, "points" | "charge">> {
  const first = await meter.quote(account, "searches", request, points);
  const missing = points - first.points;
  if (!first.isRepeat || missing <= 0) return first;
  const more = await meter.quote(account, "searches", [...request, "more"], missing).catch(orNone);
  if (more === null) return first;
  return {
    points: first.points + more.points,
    async charge(cost) {
      const paid = await more.charge(Math.max(0, cost - first.points)).catch(orNone);
      return first.points + (paid ?? 0);
    },
  };
}

/** An account without points still gets the addresses that were paid for. */
function orNone(error: unknown): null {
  if (isLookupProblem(error, "too_many_requests")) return null;
  throw error;
}

/** A page for which fewer points were left in the end than at the start. */
function shortened({ data, meta }: Found<Data, Meta>, limit: number): Found<Data, Meta> {
  return { data: { ...data, emails: data.emails.slice(0, limit) }, meta: { ...meta, limit } };
}

async function describe(
  context: LookupContext,
  { limit, offset }: DomainSearch,
  domain: string | null,
  page: ContactPage,
): Promise<Found<Data, Meta>> {
  const { lists, settings } = context;
  const facts = domain === null ? null : await factsOf(context, domain);
  return {
    data: {
      domain,
      webmail: domain !== null && lists?.isWebmail(domain) === true,
      pattern: facts?.patterns[0]?.pattern ?? null,
      organization: facts?.organization ?? null,
      emails: page.contacts.map((contact) => emailEntry(contact, settings)),
      disposable: domain !== null && lists?.isDisposable(domain) === true,
      accept_all: facts?.acceptsAll === true,
      linked_domains: await unsuppressedLinks(context, facts),
      ...organizationFields(settings.networkNames),
    },
    meta: { results: page.total, limit, offset },
  };
}
