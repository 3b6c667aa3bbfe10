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
  /**
   * ID of the account that pays, see {@link LookupAdmin.createAccount}. @default the look-up is not counted
   */
  account?: string;
  /** Aborting rejects the call with the signal's reason. Work that has begun goes on and is counted. */
  signal?: AbortSignal;
}

export interface VerifyEmailOptions extends LookupCallOptions {
  /** Maximum time to wait for mail servers, in milliseconds, 3000 to 20,000. @default 10_000 */
  maxDurationMs?: number;
}

/**
 * The look-ups as library calls. Each resolves to the object that the HTTP API sends as its body, with the
 * same validation, suppressions and counting. There is no rate limit.
 *
 * Rejects with a `ServiceError`:
 *
 * - `bad_request`: invalid parameters, or a suppressed domain
 * - `withheld`: a suppressed person
 * - `not_found`: an unknown account
 * - `rate_limited` with `retryAfterMs`: the account has no points left
 * - `overloaded`: too much work, or the lookup is closed
 * - `store_unavailable`: a backend failed
 * - `host_misuse`: the suppressions were made with another secret
 *
 * The error's `id` is the error ID of the HTTP API. An unknown parameter or option rejects with a
 * `TypeError`.
 */
export interface LookupLibrary {
  /** The addresses of an organisation. Costs one search per ten addresses, or part of ten. */
  searchDomain(parameters: DomainSearchParameters, options?: LookupCallOptions): Promise<DomainSearchAnswer>;
  /** The address of a person. Costs one search if an address is found. */
  findEmail(parameters: EmailFinderParameters, options?: LookupCallOptions): Promise<EmailFinderAnswer>;
  /**
   * Whether an address accepts mail. Costs one verification; the results `webmail`, `disposable` and
   * `unknown` are free. If the mail servers take longer than `maxDurationMs`, `data.status` is `null`. The
   * verification then goes on, and a later call returns its verdict.
   */
  verifyEmail(email: string, options?: VerifyEmailOptions): Promise<EmailVerifierAnswer>;
  /** The number of known addresses of an organisation. Costs nothing. */
  countEmails(
    parameters: EmailCountParameters,
    options?: Pick<LookupCallOptions, "signal">,
  ): Promise<EmailCountAnswer>;
}

/**
 * Values of any type: {@link readArguments} checks them, and rejects like the HTTP API for an invalid
 * parameter.
 */
const any = rules.any();
const SUBJECT = { domain: any, company: any };
const SEARCH_RULES = {
  ...SUBJECT,
  ...{ type: any, seniority: any, department: any, limit: any, offset: any },
  ...{ requiredField: any, verificationStatus: any, jobTitles: any },
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

/**
 * @param track runs the work of a call, and `close()` waits for it; it rejects once the service is closed.
 */
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
    // No answer before the list of suppressions is verified.
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
