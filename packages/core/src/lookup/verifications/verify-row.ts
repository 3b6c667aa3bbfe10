import type { Account } from "../../contracts/accounts.ts";
import type { TakenVerification } from "../../contracts/verification-queue.ts";
import { isServiceError } from "../../errors.ts";
import type { Quote } from "../accounts/meter.ts";
import type { ParsedAddress } from "../address/parse-address.ts";
import { pastedAddress } from "../address/parse-mailboxes.ts";
import type { LookupContext } from "../lookup-context.ts";
import { isLookupProblem } from "../lookup-problem.ts";
import {
  describeVerification,
  type Verified,
  verifyAddress,
  verifyReserved,
} from "../verify/verify-address.ts";
import type { RowPaces } from "./row-pace.ts";
import { CLAIMED, NOT_PAID, storedResult } from "./row-result.ts";

/** The outcome of an attempt at a row: a result, or the time of the next attempt. */
export type RowOutcome = { result: string; isErased?: boolean } | { untilMs: number; wasAttempt: boolean };

/** Longest wait of one attempt for mail servers. The probe then goes on, and the next attempt gets its result. */
export const WAIT_MS = 20_000;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** Maximum number of attempts if the server reports a temporary failure, such as greylisting. */
const MAX_ATTEMPTS = 5;
/** After three days without a free budget of its mail host, a row gets the verdict `unknown`. */
const MAX_BUDGET_MS = 72 * 60 * MINUTE_MS;

const CLAIMED_OUTCOME: RowOutcome = { result: CLAIMED, isErased: true };

/** Verifies a row like a single request, with the same charge. */
export async function verifyRow(
  context: LookupContext,
  paces: RowPaces,
  row: TakenVerification,
): Promise<RowOutcome> {
  const { email } = row;
  const parsed = pastedAddress(email);
  // A text that is no address costs nothing: it tells nothing about a mailbox.
  if (parsed === null)
    return described(email, await verifyAddress(context, { email, parsed: null, account: null }));
  if ((await context.suppressions.ofAddress(parsed.address)) !== null) {
    // Suppressed while the list was added, or added by an earlier version.
    return CLAIMED_OUTCOME;
  }
  // Checked before points are reserved: rows of other domains may need them.
  if (!paces.domains.start(parsed.domain)) return later(paces, parsed);
  try {
    return await countedRow(context, paces, row, parsed);
  } finally {
    paces.domains.end(parsed.domain);
  }
}

async function countedRow(
  context: LookupContext,
  paces: RowPaces,
  row: TakenVerification,
  parsed: ParsedAddress,
): Promise<RowOutcome> {
  const { email } = row;
  const payer = await payerOf(context, row);
  const reserved = await reserve(context, payer, ["email-verifier", parsed.address]);
  if (reserved === "exhausted") return { result: NOT_PAID };
  if (reserved === "busy") {
    return { untilMs: paces.accounts.postpone(row.account ?? "", 2 * SECOND_MS), wasAttempt: false };
  }
  try {
    // Lists have a queue of their own at the mail host, so that single requests of the account do not wait behind them.
    const sought = { email, parsed, account: row.account, line: `lists ${row.account ?? ""}` };
    const found = await verifyReserved(context, reserved, sought, WAIT_MS);
    return found === null ? later(paces, parsed) : outcomeOf(context, paces, row, parsed, found);
  } catch (error) {
    // The address was suppressed during the probe.
    if (isLookupProblem(error, "claimed_email")) return CLAIMED_OUTCOME;
    if (isServiceError(error, "overloaded")) return later(paces, parsed);
    throw error;
  }
}

/** The result of a row after repeated unexpected errors. */
export async function unknownResult(context: LookupContext, email: string): Promise<RowOutcome> {
  const found = await verifyAddress(context, { email, parsed: null, account: null });
  if (pastedAddress(email) === null) return described(email, found);
  const verdict = { status: "unknown", result: "risky", score: 30, reason: "temporary" } as const;
  return described(email, { ...found, verdict });
}

/** The account with its current plan. An account of the host's own sign-in is not stored; its plan is that of the list. */
async function payerOf(
  { accounts }: LookupContext,
  { account, plan, createdAt }: TakenVerification,
): Promise<Account | null> {
  if (account === null) return null;
  const others = { email: null, firstName: null, lastName: null };
  return (await accounts.get(account)) ?? { id: account, plan, createdAt, ...others };
}

/** Reserves one verification. `busy`: all points are reserved, and some may be released. */
async function reserve(
  { meter }: LookupContext,
  payer: Account | null,
  request: readonly unknown[],
): Promise<Quote | "exhausted" | "busy"> {
  try {
    return await meter.reserve(payer, "verifications", request, 1);
  } catch (error) {
    if (!isLookupProblem(error, "too_many_requests")) throw error;
    return (await meter.isUsedUp(payer, "verifications")) ? "exhausted" : "busy";
  }
}

function outcomeOf(
  { settings }: LookupContext,
  paces: RowPaces,
  { email, attempts, createdAt }: TakenVerification,
  parsed: ParsedAddress,
  found: Verified,
): RowOutcome {
  const { probe } = found.findings;
  const retryAfterMs = probe?.retryAfterMs ?? null;
  if (found.verdict.status !== "unknown" || retryAfterMs === null) {
    return described(email, found);
  }
  if (probe?.reason === "budget") {
    const isLate = settings.now() - createdAt > MAX_BUDGET_MS;
    if (isLate) return described(email, found);
    return { untilMs: paces.domains.postpone(parsed.domain, retryAfterMs), wasAttempt: false };
  }
  // Port 25 stays blocked for longer than a retry waits.
  if (probe?.reason === "port_25_blocked" || attempts + 1 >= MAX_ATTEMPTS) return described(email, found);
  const waitMs = Math.max(retryAfterMs, MINUTE_MS * 4 ** attempts);
  return { untilMs: settings.now() + waitMs, wasAttempt: true };
}

function later(paces: RowPaces, parsed: ParsedAddress): RowOutcome {
  return { untilMs: paces.domains.postpone(parsed.domain, 5 * SECOND_MS), wasAttempt: false };
}

function described(email: string, found: Verified): RowOutcome {
  return { result: storedResult(describeVerification(email, found)) };
}
