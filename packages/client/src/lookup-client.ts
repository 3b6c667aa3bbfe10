import type {
  AccountAnswer,
  DomainSearchParameters as CoreDomainSearchParameters,
  DomainSearchAnswer,
  EmailCountAnswer,
  EmailFinderAnswer,
  EmailVerification,
  EmailVerifierAnswer,
  LookupAnswer,
} from "@outrigger/core";
import type { AddressType } from "@outrigger/core/lookup";
import { isObject, type OptionRules } from "./checks.ts";
import { CLIENT_RULES, type ClientOptions, clientSettings } from "./client-options.ts";
import { type Query, queryOf } from "./image-address.ts";
import type { RequestOptions } from "./image-types.ts";
import { parseJsonReply, unexpectedReply } from "./reply.ts";
import { requestUntilReady } from "./request.ts";

/** A successful reply of the lookup, as on the wire. */
export type LookupResult<Data, Meta> = LookupAnswer<Data, Meta>;

/** `emails`: sorted by confidence, highest first, then by address. */
export type DomainSearch = DomainSearchAnswer["data"];
export type DomainSearchMeta = DomainSearchAnswer["meta"];
/** An address of a domain with its person. Unknown fields are `null`. */
export type EmailEntry = DomainSearch["emails"][number];
export type SourceEntry = EmailEntry["sources"][number];
export type VerificationEntry = EmailEntry["verification"];

/** Without enough evidence, `email` is `null` and `score` is 0. */
export type FoundEmail = EmailFinderAnswer["data"];
export type FoundEmailMeta = EmailFinderAnswer["meta"];

/** The reason for an uncertain or negative verdict. */
export type VerdictReason = NonNullable<EmailVerification["reason"]>;
export type EmailVerificationMeta = EmailVerifierAnswer["meta"];

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

/**
 * The lookup at one mount point. Results have the field names of the API. Every method rejects with an {@link OutriggerError}
 * for a refusal or a failure, and with the reason of an aborted signal. All methods are reads: a retried
 * request is counted once.
 */
export interface LookupClient {
  /** A page of the addresses of a domain. */
  domainSearch(
    parameters: DomainSearchParameters,
    options?: RequestOptions,
  ): Promise<LookupResult<DomainSearch, DomainSearchMeta>>;
  /** The address of a person. */
  findEmail(
    parameters: FindEmailParameters,
    options?: RequestOptions,
  ): Promise<LookupResult<FoundEmail, FoundEmailMeta>>;
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

/** A client of the email lookup. Throws a TypeError for an invalid option. */
export function createLookupClient(options: LookupClientOptions): LookupClient {
  const settings = clientSettings("createLookupClient", options, LOOKUP_RULES);
  const { apiKey } = options;
  const secrets = apiKey === undefined ? [] : [apiKey];
  for (const key of secrets) settings.headers.set("X-API-KEY", key);
  const state = "The verification is still in progress";

  /** The caller knows the type of the result; here only its envelope is checked. */
  async function ask<R>(operation: string, query: Query, signal: AbortSignal | undefined): Promise<R> {
    const url = `${settings.baseUrl}/v2/${operation}${queryOf(query)}`;
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

    countEmails: ({ domain, company, type }, { signal } = {}) =>
      ask("email-count", { domain, company, type }, signal),
    account: ({ signal } = {}) => ask("account", {}, signal),
  };
}
