import type { Contact, ContactVerification } from "../../contracts/contact-source.ts";
import type { ProbeResult } from "../../contracts/mail-prober.ts";
import { isGibberish } from "../address/is-gibberish.ts";
import { addressFault, type ParsedAddress } from "../address/parse-address.ts";
import type { LookupContext } from "../lookup-context.ts";
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

/**
 * Verifies one address, and stores the verdict with its contact and domain; `null` if the servers take longer than
 * `waitMs`. A failure to store it goes to `onError`.
 */
export async function verifyAddress(
  context: LookupContext,
  email: string,
  parsed: ParsedAddress | null,
  waitMs: number,
): Promise<Verified | null> {
  const { contacts, verifier, settings } = context;
  if (parsed === null) return judged(context, email, null, null, null);
  const [contact, probe] = await Promise.all([contacts.find(parsed.address), verifier.probe(parsed, waitMs)]);
  if (probe === null) return null;
  const verified = judged(context, email, parsed, probe, contact);
  const verification = verificationOf(verified, settings.now());
  if (verification !== null && isNews(verification, contact?.verification)) {
    try {
      await contacts.recordVerification?.(parsed.address, verification, probe.acceptsAll);
    } catch (error) {
      settings.onError(error);
    }
  }
  return verified;
}

/** The verdict with its date; `null` if no server was queried and no list decided. */
export function verificationOf(
  { verdict, findings }: Pick<Verified, "verdict" | "findings">,
  nowMs: number,
): ContactVerification | null {
  const isVerified = verdict.status !== "unknown" || findings.probe?.reason !== "not_probed";
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
  { verifier }: LookupContext,
  email: string,
  parsed: ParsedAddress | null,
  probe: ProbeResult | null,
  contact: Contact | null,
): Verified {
  const findings: Findings = {
    fault: addressFault(email),
    isGibberish: parsed !== null && isGibberish(parsed.local),
    isWebmail: parsed !== null && verifier.isWebmail(parsed.domain),
    isDisposable: parsed !== null && verifier.isDisposable(parsed.domain),
    isAlias: parsed !== null && verifier.isAlias(parsed.domain),
    probe,
    contact,
  };
  const suggestion = parsed === null ? null : verifier.suggestDomain(parsed.domain);
  return {
    findings,
    verdict: judge(findings),
    suggestion: suggestion === null || parsed === null ? null : `${parsed.local}@${suggestion}`,
  };
}

/** Webmail, disposable and unknown addresses cost nothing. */
export function isCharged({ status }: Verdict): boolean {
  return status !== "webmail" && status !== "disposable" && status !== "unknown";
}
