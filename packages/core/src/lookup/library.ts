import { abortable } from "../async/abortable.ts";
import { checkOptions } from "../check-options.ts";
import { abortSignal } from "../contract-rules.ts";
import type { Account } from "../contracts/accounts.ts";
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

const SIGNAL_RULES = {
  /** Aborting rejects the call with the signal's reason. Work that has begun goes on and is counted. @default never */
  signal: abortSignal,
};
const CALL_RULES = {
  /**
   * ID of the account that pays, see {@link LookupAdmin.createAccount}. @default the look-up is not counted
   */
  account: rules.text("the ID of an account"),
  ...SIGNAL_RULES,
};
const VERIFY_RULES = {
  ...CALL_RULES,
  /** Maximum time to wait for mail servers, in milliseconds, 3000 to 20,000. @default 10_000 */
  maxDurationMs: rules.any<number>(),
};

export interface LookupCallOptions extends rules.Options<typeof CALL_RULES> {}
export interface VerifyEmailOptions extends rules.Options<typeof VERIFY_RULES> {}

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

/** Rejects other names. {@link readArguments} checks the values, and rejects like the HTTP API for an invalid one. */
function checkNames(call: string, given: object, { parameters }: { parameters: readonly string[] }): void {
  const table = Object.fromEntries(parameters.map((name) => [name, rules.any()]));
  // An interface has no index signature.
  checkOptions(call, given as Record<string, unknown>, table);
}

/**
 * @param track runs the work of a call, and `close()` waits for it; it rejects once the service is closed.
 */
export function createLookupLibrary(
  context: LookupContext,
  track: <T>(work: () => Promise<T>) => Promise<T>,
): LookupLibrary {
  async function payerOf(account: string | undefined): Promise<Account | null> {
    return account === undefined ? null : requireAccount(context.accounts, account);
  }

  async function call<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    return abortable(track(work), signal);
  }

  async function run<P, D, E, M extends object>(
    operation: LookupOperation<P, D, E, M>,
    values: object,
    { account, signal }: { account?: string | undefined; signal: AbortSignal | undefined },
  ): Promise<LookupAnswer<D, M & { params: E }>> {
    return call(async () => {
      const parameters = operation.check(readArguments(values));
      // No answer before the list of suppressions is verified.
      await context.suppressions.ready();
      const payer = await payerOf(account);
      return answerOf(operation, parameters, await operation.work(context, parameters, payer));
    }, signal);
  }

  function counted<P, D, E, M extends object>(name: string, operation: LookupOperation<P, D, E, M>) {
    return async (parameters: object, options?: LookupCallOptions) => {
      checkNames(name, parameters, operation);
      return run(operation, parameters, checkOptions(name, options, CALL_RULES));
    };
  }

  return {
    searchDomain: counted("searchDomain", domainSearch),
    findEmail: counted("findEmail", emailFinder),
    async verifyEmail(email, options) {
      const { maxDurationMs, ...others } = checkOptions("verifyEmail", options, VERIFY_RULES);
      return run(emailVerifier, { email, maxDurationMs }, others);
    },
    async countEmails(parameters, options) {
      checkNames("countEmails", parameters, emailCount);
      return run(emailCount, parameters, checkOptions("countEmails", options, SIGNAL_RULES));
    },
  };
}
