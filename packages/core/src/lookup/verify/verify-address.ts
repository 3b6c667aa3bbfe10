import type { Contact } from "../../contracts/contact-source.ts";
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

/**
 * Verifies one address, which may take minutes.
 * @param account on whose behalf; lines before mail hosts serve accounts alternately.
 */
export async function verifyAddress(
  context: LookupContext,
  email: string,
  parsed: ParsedAddress | null,
  account: string | null,
): Promise<Verified> {
  const { contacts, verifier } = context;
  if (parsed === null) return judged(context, email, null, null, null);
  const [contact, probe] = await Promise.all([
    contacts.find(parsed.address),
    verifier.probe(parsed, account),
  ]);
  return judged(context, email, parsed, probe, contact);
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
