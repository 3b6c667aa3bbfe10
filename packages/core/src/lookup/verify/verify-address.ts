import { isSettledWithin } from "../../async/settled-within.ts";
import type { Contact, ContactVerification } from "../../contracts/contact-source.ts";
import type { MailLists, ProbeResult } from "../../contracts/mail-prober.ts";
import type { Quote } from "../accounts/meter.ts";
import { isGibberish } from "../address/is-gibberish.ts";
import { addressFault, type ParsedAddress } from "../address/parse-address.ts";
import type { EmailVerification } from "../answers.ts";
import type { LookupContext } from "../lookup-context.ts";
import { isLookupProblem } from "../lookup-problem.ts";
import { type Findings, judge, type Verdict } from "./verdict.ts";

/** The facts about an address, and the verdict. */
export interface Verified {
  findings: Findings;
  verdict: Verdict;
  suggestion: string | null;
}

/** How long an uncertain verdict does not replace a certain one, in days. */
const CERTAIN_DAYS = 90;
const DAY_MS = 86_400_000;

/** An address to verify. */
export interface VerificationSought {
  /** As the caller wrote it. */
  email: string;
  /** `null` for a text that is not an address. */
  parsed: ParsedAddress | null;
  /** ID of the account on whose behalf, `null` without one. */
  account: string | null;
}

/**
 * Verifies one address and charges its reserved points.
 * @returns `null` if that takes longer than `waitMs`. The verification then goes on, and is charged when it ends; a
 * later call joins it.
 */
export async function verifyReserved(
  context: LookupContext,
  reserved: Quote,
  sought: VerificationSought,
  waitMs: number,
): Promise<Verified | null> {
  const verifying = verifyAddress(context, sought);
  const charging = chargeWhenKnown(reserved, verifying);
  if (await isSettledWithin(charging, waitMs)) {
    await charging;
    return await verifying;
  }
  charging.catch((error: unknown) => {
    if (!isLookupProblem(error)) context.settings.onError(error);
  });
  return null;
}

async function chargeWhenKnown(reserved: Quote, verifying: Promise<Verified>): Promise<void> {
  let cost = 0;
  try {
    const { verdict } = await verifying;
    cost = isCharged(verdict) ? 1 : 0;
  } finally {
    await reserved.charge(cost);
  }
}

/**
 * Verifies one address, which may take minutes, and stores the verdict with its contact and domain. A failure to
 * store it goes to `onError`.
 */
export async function verifyAddress(
  context: LookupContext,
  { email, parsed, account }: VerificationSought,
): Promise<Verified> {
  const { contacts, verifier } = context;
  if (parsed === null) return judged(context, email, null, null, null);
  const [contact, probe] = await Promise.all([
    contacts.find(parsed.address),
    verifier.probe(parsed, account),
  ]);
  const verified = judged(context, email, parsed, probe, contact);
  await record(context, verified, parsed, probe.acceptsAll);
  return verified;
}

async function record(
  { contacts, settings }: LookupContext,
  verified: Verified,
  { address }: ParsedAddress,
  acceptsAll: boolean | null,
): Promise<void> {
  const verification = verificationOf(verified, settings.now());
  if (verification === null || !isNews(verification, verified.findings.contact?.verification)) return;
  try {
    await contacts.recordVerification?.(address, verification, acceptsAll);
  } catch (error) {
    settings.onError(error);
  }
}

/** The verdict with its date; `null` if no server was queried and no list decided. */
export function verificationOf(
  { verdict, findings }: Pick<Verified, "verdict" | "findings">,
  nowMs: number,
): ContactVerification | null {
  const reason = findings.probe?.reason;
  const isVerified = verdict.status !== "unknown" || (reason !== "not_probed" && reason !== "budget");
  return isVerified ? { status: verdict.status, date: dayOf(nowMs) } : null;
}

/** Trouble on the way to the server does not make a recent certain verdict uncertain. */
function isNews(verification: ContactVerification, known: ContactVerification | undefined): boolean {
  const isCertain = known !== undefined && known.status !== "unknown";
  if (verification.status !== "unknown" || !isCertain) return true;
  return Date.parse(verification.date) - Date.parse(known.date) > CERTAIN_DAYS * DAY_MS;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function judged(
  { lists }: LookupContext,
  email: string,
  parsed: ParsedAddress | null,
  probe: ProbeResult | null,
  contact: Contact | null,
): Verified {
  const findings: Findings = {
    fault: parsed === null ? addressFault(email) : null,
    isGibberish: parsed !== null && isGibberish(parsed.local),
    isWebmail: parsed !== null && lists?.isWebmail(parsed.domain) === true,
    isDisposable: parsed !== null && isDisposable(lists, parsed.domain, probe),
    isAlias: parsed !== null && lists?.isAlias?.(parsed.domain) === true,
    hasLists: lists !== null,
    probe,
    contact,
  };
  const suggestion = parsed === null ? null : (lists?.suggestDomain(parsed.domain) ?? null);
  return {
    findings,
    verdict: judge(findings),
    suggestion: suggestion === null || parsed === null ? null : `${parsed.local}@${suggestion}`,
  };
}

/** A list may be wrong about a domain whose mail host is a provider for businesses. */
function isDisposable(lists: MailLists | null, domain: string, probe: ProbeResult | null): boolean {
  if (lists?.isDisposable(domain) !== true) return false;
  return probe?.isBusinessMail !== true || (lists.isSurelyDisposable?.(domain) ?? true);
}

/** Webmail, disposable and unknown addresses cost nothing. */
function isCharged({ status }: Verdict): boolean {
  return status !== "webmail" && status !== "disposable" && status !== "unknown";
}

/** A verdict as the API sends it. */
export function describeVerification(
  email: string,
  { findings, verdict, suggestion }: Verified,
): Omit<EmailVerification, "sources"> {
  const { probe } = findings;
  return {
    result: verdict.result,
    status: verdict.status,
    score: verdict.score,
    email,
    regexp: findings.fault === null,
    gibberish: findings.isGibberish,
    disposable: findings.isDisposable,
    alias: findings.isAlias,
    webmail: findings.isWebmail,
    mx_records: probe?.routing === "found",
    smtp_server: probe?.server === true,
    // A server that accepts all accepted this address, too.
    smtp_check: probe?.mailbox === true || probe?.acceptsAll === true,
    accept_all: probe?.acceptsAll === true,
    block: probe?.reason === "policy",
    reason: verdict.reason,
    suggestion,
  };
}
