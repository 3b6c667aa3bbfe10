import type { OptionRules } from "./check-options.ts";
import { isApiKey } from "./checks.ts";
import { CLIENT_RULES, type ClientOptions, clientSettings } from "./client-options.ts";
import { queryOf } from "./image-address.ts";
import type { RequestOptions } from "./image-types.ts";
import type {
  Account,
  AccountMeta,
  AddressType,
  DomainSearch,
  DomainSearchMeta,
  DomainSearchParameters,
  EmailCount,
  EmailCountMeta,
  EmailVerification,
  EmailVerificationMeta,
  FoundEmail,
  FoundEmailMeta,
  LookupResult,
  SubjectParameters,
  VerificationList,
  VerificationPage,
  VerificationPageMeta,
} from "./lookup-types.ts";
import { readRefusal } from "./read-refusal.ts";
import { request } from "./repeat.ts";
import { isObject, parseJsonReply, type Reply, unexpectedReply } from "./reply.ts";
import { waitAsAsked } from "./wait-until-ready.ts";

export interface LookupClientOptions extends ClientOptions {
  /** Sent as `X-API-KEY`. Not needed for `countEmails`, or if the host app authenticates. @default none */
  apiKey?: string | undefined;
}

const LOOKUP_RULES = {
  ...CLIENT_RULES,
  apiKey: ["visible ASCII characters", isApiKey],
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

type Query = Readonly<Record<string, string | number | undefined>>;

/** A client of the email lookup. Throws a TypeError for an invalid option. */
export function createLookupClient<A extends string = "network_a", B extends string = "network_b">(
  options: LookupClientOptions,
): LookupClient<A, B> {
  const settings = clientSettings("createLookupClient", options, LOOKUP_RULES);
  const { apiKey } = options;
  const secrets = apiKey === undefined ? [] : [apiKey];
  for (const key of secrets) settings.headers.set("X-API-KEY", key);

  /** Sends a read again until the reply is no 202. */
  async function read(path: string, accept: string, signal: AbortSignal | undefined): Promise<Reply> {
    const url = `${settings.baseUrl}/v2/${path}`;
    const sending = { method: "GET", url, headers: { Accept: accept }, signal } as const;
    for (;;) {
      const { reply } = await request(settings, sending);
      if (reply.status === 200) return reply;
      if (reply.status !== 202) throw readRefusal(reply, secrets);
      await waitAsAsked(settings, reply, signal, "The verification is still in progress");
    }
  }

  /** The caller knows the type of the result; here only its envelope is checked. */
  async function ask<R>(operation: string, query: Query, signal: AbortSignal | undefined): Promise<R> {
    const reply = await read(`${operation}${queryOf(query)}`, "application/json", signal);
    const { data, meta } = parseJsonReply(reply);
    // Replies with 200 have the documented shape.
    if (isObject(data) && isObject(meta)) return { data, meta } as R;
    throw unexpectedReply(reply);
  }

  async function verifyEmails(
    list: readonly string[] | Blob,
    { signal }: RequestOptions = {},
  ): Promise<{ data: VerificationList }> {
    const [type, body] = isAddresses(list)
      ? ["application/json", JSON.stringify({ emails: list })]
      : ["text/csv", list];
    const url = `${settings.baseUrl}/v2/${LISTS}`;
    const headers = { Accept: "application/json", "Content-Type": type };
    const sending = { method: "POST", url, headers, body, signal } as const;
    const { reply } = await request(settings, sending, false);
    if (reply.status !== 202) throw readRefusal(reply, secrets);
    const { data } = parseJsonReply(reply);
    if (isObject(data) && isVerificationList(data)) return { data };
    throw unexpectedReply(reply);
  }

  async function verificationCsv(id: string, { signal }: RequestOptions = {}): Promise<string> {
    const reply = await read(`${LISTS}/${listPath(id)}.csv`, "text/csv", signal);
    if (/^text\/csv\b/i.test(reply.headers.get("Content-Type") ?? "")) return reply.text;
    throw unexpectedReply(reply);
  }

  return {
    domainSearch: (parameters, { signal } = {}) => {
      const { domain, company, limit, offset, type } = parameters;
      const lists = {
        seniority: listOf(parameters.seniority),
        department: listOf(parameters.department),
        required_field: listOf(parameters.requiredField),
        verification_status: listOf(parameters.verificationStatus),
        job_titles: listOf(parameters.jobTitles),
      };
      return ask("domain-search", { domain, company, limit, offset, type, ...lists }, signal);
    },
    findEmail: ({ domain, company, firstName, lastName, fullName, maxDuration }, { signal } = {}) => {
      const name = { first_name: firstName, last_name: lastName, full_name: fullName };
      return ask("email-finder", { domain, company, ...name, max_duration: maxDuration }, signal);
    },
    verifyEmail: (email, { maxDuration, signal } = {}) =>
      ask("email-verifier", { email, max_duration: maxDuration }, signal),
    verifyEmails,
    verification: async (id, { offset, limit } = {}, { signal } = {}) =>
      ask(`${LISTS}/${listPath(id)}`, { offset, limit }, signal),
    verificationCsv,
    countEmails: ({ domain, company, type }, { signal } = {}) =>
      ask("email-count", { domain, company, type }, signal),
    account: ({ signal } = {}) => ask("account", {}, signal),
  };
}

function listOf(words: string | readonly string[] | undefined): string | undefined {
  return typeof words === "string" ? words : words?.join(",");
}

/** Replies with 202 and an ID have the documented shape. */
function isVerificationList(
  data: Record<string, unknown>,
): data is Record<string, unknown> & VerificationList {
  return typeof data.id === "string";
}

function isAddresses(list: readonly string[] | Blob): list is readonly string[] {
  return Array.isArray(list);
}

/** Throws a TypeError for a text that is no ID of a list. */
function listPath(id: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(id)) return id;
  throw new TypeError("id must be the ID of a list, as verifyEmails returns it");
}
