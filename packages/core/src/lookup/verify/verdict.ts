import type { Contact, VerificationStatus } from "../../contracts/contact-source.ts";
import type { ProbeReason, ProbeResult } from "../../contracts/mail-prober.ts";
import type { AddressFault } from "../address/parse-address.ts";

type VerdictResult = "deliverable" | "undeliverable" | "risky";

/** The facts on which a verdict is based. */
export interface Findings {
  fault: AddressFault | null;
  isGibberish: boolean;
  isWebmail: boolean;
  isDisposable: boolean;
  isAlias: boolean;
  /** Whether lists of webmail and disposable domains were asked. */
  hasLists: boolean;
  /** `null` if the address has a fault. */
  probe: ProbeResult | null;
  /** The known contact; `null` if there is none. */
  contact: Contact | null;
}

export interface Verdict {
  status: VerificationStatus;
  result: VerdictResult;
  /** From 0 to 100. */
  score: number;
  /** Why the result is uncertain, why the address was rejected, or why a check was not made; `null` otherwise. */
  reason: ProbeReason | AddressFault | "no_mail_server" | "null_mx" | "no_lists" | null;
}

/** The score that API clients expect for webmail and disposable addresses. */
const ARBITRARY_SCORE = 50;
/** The server accepts the mailbox; whether it accepts any other is unknown. */
const UNPROVED_SCORE = 80;

/** Judges an address. Uncertainty is never "undeliverable". */
export function judge(findings: Findings): Verdict {
  const { status, reason } = statusOf(findings);
  const unlisted = findings.hasLists ? null : "no_lists";
  return { status, result: resultOf(status), score: scoreOf(status, findings), reason: reason ?? unlisted };
}

function statusOf({ fault, probe, isWebmail, isDisposable }: Findings): Pick<Verdict, "status" | "reason"> {
  // A valid address that is not probed.
  if (fault === "quoted_local") return { status: "unknown", reason: fault };
  if (fault !== null || probe === null) return { status: "invalid", reason: fault };
  // Lists take precedence over the DNS: a failing resolver must not make a webmail address undeliverable.
  if (isDisposable && probe.mailbox !== false)
    return { status: "disposable", reason: ofServer(probe).reason };
  // Webmail is not probed: only a report tells that a mailbox does not exist.
  if (isWebmail && probe.mailbox !== false) return { status: "webmail", reason: ofServer(probe).reason };
  return ofServer(probe);
}

/** What the DNS and the mail server say. */
function ofServer(probe: ProbeResult): Pick<Verdict, "status" | "reason"> {
  if (probe.routing === "null_mx") return { status: "invalid", reason: "null_mx" };
  if (probe.routing === "none") return { status: "invalid", reason: "no_mail_server" };
  if (probe.mailbox === false) return { status: "invalid", reason: probe.reason };
  if (probe.acceptsAll === true) return { status: "accept_all", reason: "accepts_all" };
  if (probe.mailbox === true) return { status: "valid", reason: probe.reason };
  return { status: "unknown", reason: probe.reason };
}

function resultOf(status: VerificationStatus): VerdictResult {
  if (status === "valid") return "deliverable";
  return status === "invalid" ? "undeliverable" : "risky";
}

/** An address that a source contains is likelier to be correct than an unknown one. */
function scoreOf(status: VerificationStatus, { isGibberish, contact, probe }: Findings): number {
  switch (status) {
    case "valid":
      if (probe?.acceptsAll !== false) return UNPROVED_SCORE;
      return isGibberish ? 90 : 100;
    case "invalid":
      return 0;
    case "webmail":
    case "disposable":
      return ARBITRARY_SCORE;
    case "accept_all":
      return contact !== null ? Math.max(60, Math.min(95, contact.confidence)) : isGibberish ? 25 : 50;
    case "unknown":
      return contact !== null ? Math.min(90, contact.confidence) : isGibberish ? 10 : 30;
  }
}
