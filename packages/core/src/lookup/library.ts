import { abortable } from "../async/abortable.ts";
import { checkOptions } from "../check-options.ts";
import * as rules from "../option-rules.ts";
import type {
  DomainSearchAnswer,
  EmailCountAnswer,
  EmailFinderAnswer,
  EmailVerifierAnswer,
} from "./answers.ts";
import { requireAccount } from "./lookup-admin.ts";
import type { LookupContext } from "./lookup-context.ts";
import { type DomainSearchParameters, domainSearch } from "./operations/domain-search.ts";
import { type EmailCountParameters, emailCount } from "./operations/email-count.ts";
import { type EmailFinderParameters, emailFinder } from "./operations/email-finder.ts";
import { emailVerifier } from "./operations/email-verifier.ts";
import { readArguments } from "./operations/given.ts";
import { answerOf, type LookupAnswer, type LookupOperation } from "./operations/operation.ts";

export interface LookupCallOptions {
  /** The ID of the account that pays, see {@link LookupAdmin.createAccount}. @default the look-up is not counted */
  account?: string;
  /** Rejects the call with its reason. Work that began goes on, and is counted. */
  signal?: AbortSignal;
}

export interface VerifyEmailOptions extends LookupCallOptions {
  /** How long to wait for mail servers, in milliseconds, 3000 to 20,000. @default 10_000 */
  maxDurationMs?: number;
}

/**
 * The look-ups, called from code. Each resolves to the object that is the body of the reply over HTTP, after the same
 * validation, suppressions and counting; there is no rate limit.
 *
 * Rejects with a `ServiceError`: `bad_request` for wrong parameters and for a suppressed domain, `withheld` for a
 * suppressed person, `not_found` for an unknown account, `rate_limited` with `retryAfterMs` for an account without
 * points, `overloaded` for too much work and for a closed lookup, `store_unavailable` for a backend, `host_misuse` for another secret. A
 * refusal has the API's own word as `id`. A parameter or option of an unknown name rejects with a `TypeError`.
 */
export interface LookupLibrary {
  /** The addresses of an organisation. Costs one search per started ten addresses. */
  searchDomain(parameters: DomainSearchParameters, options?: LookupCallOptions): Promise<DomainSearchAnswer>;
  /** The address of a person. Costs one search if an address is found. */
  findEmail(parameters: EmailFinderParameters, options?: LookupCallOptions): Promise<EmailFinderAnswer>;
  /**
   * Whether an address takes mail. Costs one verification, none for `webmail`, `disposable` and `unknown`. If the mail servers
   * take longer than `maxDurationMs`, `data.status` is `null`; the verification goes on, and a later call gets its verdict.
   */
  verifyEmail(email: string, options?: VerifyEmailOptions): Promise<EmailVerifierAnswer>;
  /** How many addresses of an organisation are known. Costs nothing. */
  countEmails(
    parameters: EmailCountParameters,
    options?: Pick<LookupCallOptions, "signal">,
  ): Promise<EmailCountAnswer>;
}

/** Values of any type: {@link readArguments} checks them, and rejects as for a wrong parameter over HTTP. */
const any = rules.any();
const SUBJECT = { domain: any, company: any };
const SEARCH_RULES = {
  ...SUBJECT,
  ...{ type: any, seniority: any, department: any, limit: any, offset: any },
} satisfies rules.RuleTable<DomainSearchParameters>;
const FINDER_RULES = {
  ...SUBJECT,
  ...{ firstName: any, lastName: any, fullName: any, maxDurationMs: any },
} satisfies rules.RuleTable<EmailFinderParameters>;
const COUNT_RULES = { ...SUBJECT, type: any } satisfies rules.RuleTable<EmailCountParameters>;

const SIGNAL_RULES = { signal: rules.shape("an AbortSignal", "addEventListener", "throwIfAborted") };
const CALL_RULES = {
  ...SIGNAL_RULES,
  account: rules.text("the ID of an account"),
} satisfies rules.RuleTable<LookupCallOptions>;
const VERIFY_RULES = { ...CALL_RULES, maxDurationMs: any } satisfies rules.RuleTable<VerifyEmailOptions>;

/** @param track does the work of a call, which `close()` then waits for; rejects where the service is closed. */
export function createLookupLibrary(
  context: LookupContext,
  track: <T>(work: () => Promise<T>) => Promise<T>,
): LookupLibrary {
  async function work<P, D, E, M extends object>(
    operation: LookupOperation<P, D, E, M>,
    values: object,
    account: string | undefined,
  ): Promise<LookupAnswer<D, M & { params: E }>> {
    const parameters = operation.check(readArguments(values));
    // No answer before it is certain that suppressions are found.
    await context.suppressions.ready();
    const payer = account === undefined ? null : await requireAccount(context.accounts, account);
    return answerOf(operation, parameters, await operation.work(context, parameters, payer));
  }

  async function run<P, D, E, M extends object>(
    operation: LookupOperation<P, D, E, M>,
    values: object,
    { account, signal }: { account?: string | undefined; signal: AbortSignal | undefined },
  ): Promise<LookupAnswer<D, M & { params: E }>> {
    signal?.throwIfAborted();
    return abortable(
      track(() => work(operation, values, account)),
      signal,
    );
  }

  return {
    async searchDomain(parameters, options) {
      checkOptions("searchDomain", parameters, SEARCH_RULES);
      return run(domainSearch, parameters, checkOptions("searchDomain", options, CALL_RULES));
    },
    async findEmail(parameters, options) {
      checkOptions("findEmail", parameters, FINDER_RULES);
      return run(emailFinder, parameters, checkOptions("findEmail", options, CALL_RULES));
    },
    async verifyEmail(email, options) {
      const { maxDurationMs, ...others } = checkOptions("verifyEmail", options, VERIFY_RULES);
      return run(emailVerifier, { email, maxDurationMs }, others);
    },
    async countEmails(parameters, options) {
      checkOptions("countEmails", parameters, COUNT_RULES);
      return run(emailCount, parameters, checkOptions("countEmails", options, SIGNAL_RULES));
    },
  };
}
