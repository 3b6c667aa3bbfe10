import type { OptionRules } from "./check-options.ts";
import { isApiKey } from "./checks.ts";
import { CLIENT_RULES, type ClientOptions, clientSettings } from "./client-options.ts";
import { queryOf } from "./image-address.ts";
import type { RequestOptions } from "./image-types.ts";
import type {
  Account,
  AccountMeta,
  AddressType,
  Department,
  DomainSearch,
  DomainSearchMeta,
  EmailCount,
  EmailCountMeta,
  EmailVerification,
  EmailVerificationMeta,
  FoundEmail,
  FoundEmailMeta,
  LookupResult,
  RequiredField,
  Seniority,
  VerificationStatus,
} from "./lookup-types.ts";
import { OutriggerError } from "./outrigger-error.ts";
import { readRefusal } from "./read-refusal.ts";
import { repeat } from "./repeat.ts";
import { isObject, parseJsonReply, type Reply } from "./reply.ts";
import { send } from "./send.ts";
import { waitAsAsked } from "./wait-until-ready.ts";

export interface LookupClientOptions extends ClientOptions {
  /** Sent as `X-API-KEY`. Not needed for `countEmails`, or if the host app authenticates requests. @default none */
  apiKey?: string | undefined;
}

const LOOKUP_RULES = {
  ...CLIENT_RULES,
  apiKey: ["visible ASCII characters", isApiKey],
} satisfies Record<keyof LookupClientOptions, OptionRules[string]>;

/** The organisation: its domain or its name. The domain takes precedence. */
export interface SubjectParameters {
  domain?: string | undefined;
  /** Name of the organisation, at least 3 characters. */
  company?: string | undefined;
}

export interface DomainSearchParameters extends SubjectParameters {
  /** Size of the page, 1 to 100. @default 10 */
  limit?: number | undefined;
  /** Number of addresses to skip, from 0. @default 0 */
  offset?: number | undefined;
  type?: AddressType | undefined;
  /** One value or several alternatives. */
  seniority?: Seniority | readonly Seniority[] | undefined;
  department?: Department | readonly Department[] | undefined;
  /** All of these facts must be known. */
  requiredField?: RequiredField | readonly RequiredField[] | undefined;
  /** One latest verdict or several alternatives. */
  verificationStatus?: SearchedStatus | readonly SearchedStatus[] | undefined;
  /** Whole words of the job title, side by side; up to 20 alternatives. Case and accents are ignored. */
  jobTitles?: string | readonly string[] | undefined;
}

type SearchedStatus = Extract<VerificationStatus, "valid" | "accept_all" | "unknown">;

/** First and last name, or the full name. */
export interface FindEmailParameters extends SubjectParameters {
  firstName?: string | undefined;
  lastName?: string | undefined;
  fullName?: string | undefined;
  /** Longest time for requests to mail servers, in whole seconds: 3 to 20. @default 10 */
  maxDuration?: number | undefined;
}

/**
 * The lookup at one mount point. Results have the field names of the API. Every method rejects with an {@link OutriggerError}
 * for a refusal or a failure, and with the reason of an aborted signal. All methods are reads: a retried request is counted
 * once.
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
  /** The number of known addresses of a domain. Needs no key. */
  countEmails(
    parameters: SubjectParameters & { type?: AddressType | undefined },
    options?: RequestOptions,
  ): Promise<LookupResult<EmailCount, EmailCountMeta>>;
  /** The usage and the allowance of this month. */
  account(options?: RequestOptions): Promise<LookupResult<Account, AccountMeta>>;
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** A client of the email lookup. Throws a TypeError for an invalid option. */
export function createLookupClient<A extends string = "network_a", B extends string = "network_b">(
  options: LookupClientOptions,
): LookupClient<A, B> {
  const settings = clientSettings("createLookupClient", options, LOOKUP_RULES);
  const { apiKey } = options;
  const secrets = apiKey === undefined ? [] : [apiKey];
  for (const key of secrets) settings.headers.set("X-API-KEY", key);

  /** The caller knows the type of the result; here only its envelope is checked. */
  async function ask<R>(operation: string, query: Query, signal: AbortSignal | undefined): Promise<R> {
    const url = `${settings.baseUrl}/v2/${operation}${queryOf(query)}`;
    const sending = { method: "GET", url, headers: { Accept: "application/json" }, signal } as const;
    for (;;) {
      const { reply } = await repeat(settings, { isRepeatable: true, signal }, () => send(settings, sending));
      // Replies with 200 have the documented shape.
      if (reply.status === 200) return readResult(reply) as R;
      if (reply.status !== 202) throw readRefusal(reply, secrets);
      await waitAsAsked(settings, reply, signal);
    }
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
    countEmails: ({ domain, company, type }, { signal } = {}) =>
      ask("email-count", { domain, company, type }, signal),
    account: ({ signal } = {}) => ask("account", {}, signal),
  };
}

function listOf(words: string | readonly string[] | undefined): string | undefined {
  return typeof words === "string" ? words : words?.join(",");
}

function readResult(reply: Reply): LookupResult<unknown, unknown> {
  const { data, meta } = parseJsonReply(reply);
  if (isObject(data) && isObject(meta)) return { data, meta };
  throw new OutriggerError({
    status: reply.status,
    title: "Unexpected reply",
    detail:
      "The reply does not come from the lookup. Check that baseUrl is the address at which it is mounted.",
  });
}
