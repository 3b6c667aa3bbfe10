import type {
  AccountAnswer,
  DomainSearchParameters as CoreDomainSearchParameters,
  EmailEntry as CoreEmailEntry,
  DomainSearchAnswer,
  EmailCountAnswer,
  EmailFinderAnswer,
  EmailVerification,
  EmailVerifierAnswer,
  LookupAnswer,
  VerificationListAnswer,
} from "@outrigger/core";
import type { AddressType } from "@outrigger/core/lookup";
import { isObject, type OptionRules } from "./checks.ts";
import { CLIENT_RULES, type ClientOptions, clientSettings } from "./client-options.ts";
import { type Query, queryOf } from "./image-address.ts";
import type { RequestOptions } from "./image-types.ts";
import { parseJsonReply, unexpectedReply } from "./reply.ts";
import { request, requestUntilReady } from "./request.ts";

/** A successful reply of the lookup, as on the wire. */
export type LookupResult<Data, Meta> = LookupAnswer<Data, Meta>;

/**
 * Profiles of a person: identifier and URL on a professional network, handle on a short-message network. If the service renames
 * these fields, pass the names as type parameters of `createLookupClient`.
 */
export type NetworkFields<A extends string, B extends string> = Record<A | `${A}_url` | B, string | null>;

/** An answer with the names of the service for the profiles of a person. */
type WithNetworks<Entry, A extends string, B extends string> = Omit<
  Entry,
  "network_a" | "network_a_url" | "network_b"
> &
  NetworkFields<A, B>;

export type DomainSearch<A extends string = "network_a", B extends string = "network_b"> = Omit<
  DomainSearchAnswer["data"],
  "emails" | "network_a" | "network_b"
> &
  Record<A | B, string | null> & {
    /** Sorted by confidence, highest first, then by address. */
    emails: EmailEntry<A, B>[];
  };
export type DomainSearchMeta = DomainSearchAnswer["meta"];
/** An address of a domain with its person. Unknown fields are `null`. */
export type EmailEntry<A extends string = "network_a", B extends string = "network_b"> = WithNetworks<
  CoreEmailEntry,
  A,
  B
>;
export type SourceEntry = CoreEmailEntry["sources"][number];
export type VerificationEntry = CoreEmailEntry["verification"];

/** Without enough evidence, `email` is `null` and `score` is 0. */
export type FoundEmail<A extends string = "network_a", B extends string = "network_b"> = WithNetworks<
  EmailFinderAnswer["data"],
  A,
  B
>;
export type FoundEmailMeta = EmailFinderAnswer["meta"];

/** The reason for an uncertain or negative verdict. */
export type VerdictReason = NonNullable<EmailVerification["reason"]>;
export type EmailVerificationMeta = EmailVerifierAnswer["meta"];

/** A list of addresses that the service verifies in the background, with a page of its results. */
export type VerificationPage = VerificationListAnswer["data"];
export type VerificationPageMeta = VerificationListAnswer["meta"];
export type VerificationList = Omit<VerificationPage, "results">;
/** An address of a list. A verdict has no sources. */
export type ListedVerification = VerificationPage["results"][number];
export type UnverifiedAddress = Extract<ListedVerification, { result: null }>;

export type EmailCount = EmailCountAnswer["data"];
export type EmailCountMeta = EmailCountAnswer["meta"];

/** Lists may be one word. */
type OneOrMany<Parameters> = {
  [Name in keyof Parameters]?:
    | Parameters[Name]
    | (NonNullable<Parameters[Name]> extends readonly (infer One)[] ? One : never)
    | undefined;
};

/** The organisation by its domain or its name, and which of its addresses. The domain takes precedence. */
export type DomainSearchParameters = OneOrMany<CoreDomainSearchParameters>;
/** The organisation: its domain or its name. The domain takes precedence. */
export type SubjectParameters = Pick<DomainSearchParameters, "domain" | "company">;

export type Account = AccountAnswer["data"];
export type AccountMeta = AccountAnswer["meta"];
export type Allowance = Account["calls"];

export interface LookupClientOptions extends ClientOptions {
  /** Sent as `X-API-KEY`. Not needed for `countEmails`, or if the host app authenticates. @default none */
  apiKey?: string | undefined;
}

const LOOKUP_RULES = {
  ...CLIENT_RULES,
  apiKey: ["visible ASCII characters", (given) => typeof given === "string" && /^[!-~]+$/.test(given)],
} satisfies Record<keyof LookupClientOptions, OptionRules[string]>;

/** First and last name, or the full name. */
export interface FindEmailParameters extends SubjectParameters {
  firstName?: string | undefined;
  lastName?: string | undefined;
  fullName?: string | undefined;
  /** Longest time for requests to mail servers, in whole seconds: 3 to 20. @default 10 */
  maxDuration?: number | undefined;
}

/** A page of a list of verifications. */
export interface VerificationPageParameters {
  /** Number of addresses to skip, from 0. @default 0 */
  offset?: number | undefined;
  /** Size of the page, 1 to 1000. @default 100 */
  limit?: number | undefined;
}

/**
 * The lookup at one mount point. Results have the field names of the API. Every method rejects with an {@link OutriggerError}
 * for a refusal or a failure, and with the reason of an aborted signal. All methods except `verifyEmails` are reads: a retried
 * request is counted once.
 */
export interface LookupClient<A extends string = "network_a", B extends string = "network_b"> {
  /** A page of the addresses of a domain. */
  domainSearch(
    parameters: DomainSearchParameters,
    options?: RequestOptions,
  ): Promise<LookupResult<DomainSearch<A, B>, DomainSearchMeta>>;
  /** The address of a person. */
  findEmail(
    parameters: FindEmailParameters,
    options?: RequestOptions,
  ): Promise<LookupResult<FoundEmail<A, B>, FoundEmailMeta>>;
  /**
   * Whether an address accepts mail. After 202, retries as `Retry-After` says until the verdict is known.
   * @param options `maxDuration`: longest time for each reply, in whole seconds: 3 to 20, default 10.
   */
  verifyEmail(
    email: string,
    options?: RequestOptions & { maxDuration?: number | undefined },
  ): Promise<LookupResult<EmailVerification, EmailVerificationMeta>>;
  /**
   * Starts the verification of a list in the background, and resolves with its ID. Each address is counted like a single
   * verification. After a failure without a reply, the list may exist: the client does not retry, except after 429.
   * @param list Addresses, at most 100,000; or CSV with a header line and a column `email`, such as a `File`.
   */
  verifyEmails(list: readonly string[] | Blob, options?: RequestOptions): Promise<{ data: VerificationList }>;
  /** The progress of a list and a page of its results, in the order of the list. A list is kept for 30 days. */
  verification(
    id: string,
    page?: VerificationPageParameters,
    options?: RequestOptions,
  ): Promise<LookupResult<VerificationPage, VerificationPageMeta>>;
  /** A list with all its results as CSV: the columns of the upload, then those of the results. */
  verificationCsv(id: string, options?: RequestOptions): Promise<string>;
  /** The number of known addresses of a domain. Needs no key. */
  countEmails(
    parameters: SubjectParameters & { type?: AddressType | undefined },
    options?: RequestOptions,
  ): Promise<LookupResult<EmailCount, EmailCountMeta>>;
  /** The usage and the allowance of this month. */
  account(options?: RequestOptions): Promise<LookupResult<Account, AccountMeta>>;
}

/** Path of the lists of verifications. */
const LISTS = "email-verifications";

/** A client of the email lookup. Throws a TypeError for an invalid option. */
export function createLookupClient<A extends string = "network_a", B extends string = "network_b">(
  options: LookupClientOptions,
): LookupClient<A, B> {
  const settings = clientSettings("createLookupClient", options, LOOKUP_RULES);
  const { apiKey } = options;
  const secrets = apiKey === undefined ? [] : [apiKey];
  for (const key of secrets) settings.headers.set("X-API-KEY", key);
  const urlOf = (path: string) => `${settings.baseUrl}/v2/${path}`;
  const state = "The verification is still in progress";

  /** The caller knows the type of the result; here only its envelope is checked. */
  async function ask<R>(operation: string, query: Query, signal: AbortSignal | undefined): Promise<R> {
    const url = urlOf(`${operation}${queryOf(query)}`);
    const sending = { url, headers: { Accept: "application/json" }, signal, secrets };
    const reply = await requestUntilReady(settings, sending, { state });
    const { data, meta } = parseJsonReply(reply);
    // Replies with 200 have the documented shape.
    if (isObject(data) && isObject(meta)) return { data, meta } as R;
    throw unexpectedReply(reply);
  }

  return {
    domainSearch: (parameters, { signal } = {}) => {
      const { domain, company, limit, offset, type, seniority, department } = parameters;
      const more = {
        required_field: parameters.requiredField,
        verification_status: parameters.verificationStatus,
        job_titles: parameters.jobTitles,
      };
      const query = { domain, company, limit, offset, type, seniority, department, ...more };
      return ask("domain-search", query, signal);
    },
    findEmail: ({ domain, company, firstName, lastName, fullName, maxDuration }, { signal } = {}) => {
      const name = { first_name: firstName, last_name: lastName, full_name: fullName };
      return ask("email-finder", { domain, company, ...name, max_duration: maxDuration }, signal);
    },
    verifyEmail: (email, { maxDuration, signal } = {}) =>
      ask("email-verifier", { email, max_duration: maxDuration }, signal),

    async verifyEmails(list, { signal } = {}) {
      const [type, body] =
        "stream" in list ? ["text/csv", list] : ["application/json", JSON.stringify({ emails: list })];
      const headers = { Accept: "application/json", "Content-Type": type };
      const sending = { url: urlOf(LISTS), headers, body, signal, secrets, expected: [202] };
      const reply = await request(settings, { ...sending, method: "POST", isRepeatable: false });
      const { data } = parseJsonReply(reply);
      // Replies with 202 and an ID have the documented shape.
      if (isObject(data) && typeof data.id === "string") return { data: data as VerificationList };
      throw unexpectedReply(reply);
    },

    verification: async (id, { offset, limit } = {}, { signal } = {}) =>
      ask(`${LISTS}/${listPath(id)}`, { offset, limit }, signal),

    async verificationCsv(id, { signal } = {}) {
      const sending = { url: urlOf(`${LISTS}/${listPath(id)}.csv`), headers: { Accept: "text/csv" } };
      const reply = await requestUntilReady(settings, { ...sending, signal, secrets }, { state });
      if (/^text\/csv\b/i.test(reply.headers.get("Content-Type") ?? "")) return reply.text;
      throw unexpectedReply(reply);
    },

    countEmails: ({ domain, company, type }, { signal } = {}) =>
      ask("email-count", { domain, company, type }, signal),
    account: ({ signal } = {}) => ask("account", {}, signal),
  };
}

/** Throws a TypeError for a text that is no ID of a list. */
function listPath(id: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(id)) return id;
  throw new TypeError("id must be the ID of a list, as verifyEmails returns it");
}
