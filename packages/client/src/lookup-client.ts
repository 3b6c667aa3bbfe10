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
  Seniority,
} from "./lookup-types.ts";
import { OutriggerError } from "./outrigger-error.ts";
import { readRefusal } from "./read-refusal.ts";
import { repeat } from "./repeat.ts";
import { isObject, parseJsonReply, type Reply } from "./reply.ts";
import { send } from "./send.ts";
import { waitAsAsked } from "./wait-until-ready.ts";

export interface LookupClientOptions extends ClientOptions {
  /** Sent as `X-API-KEY`. Absent where the host app says who asks, and for `countEmails`. @default none */
  apiKey?: string | undefined;
}

const LOOKUP_RULES = {
  ...CLIENT_RULES,
  apiKey: ["visible ASCII characters", isApiKey],
} satisfies Record<keyof LookupClientOptions, OptionRules[string]>;

/** Which organisation: one of both; the domain wins. */
export interface SubjectParameters {
  domain?: string | undefined;
  /** By its name, of at least three characters. */
  company?: string | undefined;
}

export interface DomainSearchParameters extends SubjectParameters {
  /** 1 to 100. @default 10 */
  limit?: number | undefined;
  /** @default 0 */
  offset?: number | undefined;
  type?: AddressType | undefined;
  /** Any of them. */
  seniority?: Seniority | readonly Seniority[] | undefined;
  department?: Department | readonly Department[] | undefined;
}

/** First and last name, or the full one. */
export interface FindEmailParameters extends SubjectParameters {
  firstName?: string | undefined;
  lastName?: string | undefined;
  fullName?: string | undefined;
  /** How long the service may ask mail servers, in whole seconds: 3 to 20. @default 10 */
  maxDuration?: number | undefined;
}

/**
 * The lookup at one mount point. Results have the fields of the API under their own names. Every method rejects with an
 * {@link OutriggerError} for what is refused or fails, and with the signal's reason. All are reads: a request that was repeated
 * is counted once.
 */
export interface LookupClient<A extends string = "network_a", B extends string = "network_b"> {
  /** The addresses of a domain, a page of them. */
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
   * Whether an address takes mail. Where that is not known yet, asks again as the service says, until it is.
   * @param options `maxDuration`: how long the service may take for each answer, in whole seconds: 3 to 20, default 10.
   */
  verifyEmail(
    email: string,
    options?: RequestOptions & { maxDuration?: number | undefined },
  ): Promise<LookupResult<EmailVerification, EmailVerificationMeta>>;
  /** How many addresses of a domain are known. Needs no key. */
  countEmails(
    parameters: SubjectParameters & { type?: AddressType | undefined },
    options?: RequestOptions,
  ): Promise<LookupResult<EmailCount, EmailCountMeta>>;
  /** What was used of the month's allowance. */
  account(options?: RequestOptions): Promise<LookupResult<Account, AccountMeta>>;
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** A client of the email lookup. Throws a TypeError for an option that is out of range. */
export function createLookupClient<A extends string = "network_a", B extends string = "network_b">(
  options: LookupClientOptions,
): LookupClient<A, B> {
  const settings = clientSettings("createLookupClient", options, LOOKUP_RULES);
  const { apiKey } = options;
  const secrets = apiKey === undefined ? [] : [apiKey];
  for (const key of secrets) settings.headers.set("X-API-KEY", key);

  /** The caller says what the operation answers; that it is an answer of the lookup is looked at. */
  async function ask<R>(operation: string, query: Query, signal: AbortSignal | undefined): Promise<R> {
    const url = `${settings.baseUrl}/v2/${operation}${queryOf(query)}`;
    const sending = { method: "GET", url, headers: { Accept: "application/json" }, signal } as const;
    for (;;) {
      const { reply } = await repeat(settings, { isRepeatable: true, signal }, () => send(settings, sending));
      // The shapes of what the API answers with 200 are those of its documentation.
      if (reply.status === 200) return readResult(reply) as R;
      if (reply.status !== 202) throw readRefusal(reply, secrets);
      await waitAsAsked(settings, reply, signal);
    }
  }

  return {
    domainSearch: ({ seniority, department, ...others }, { signal } = {}) => {
      const { domain, company, limit, offset, type } = others;
      const lists = { seniority: listOf(seniority), department: listOf(department) };
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
    detail: "What answered is not the lookup. Is baseUrl the address at which it is mounted?",
  });
}
