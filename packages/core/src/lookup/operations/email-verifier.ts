import type { ProbeResult } from "../../contracts/mail-prober.ts";
import { patternOf } from "../../schema/json-schema.ts";
import type { ParsedAddress } from "../address/parse-address.ts";
import { pastedAddress } from "../address/parse-mailboxes.ts";
import type { EmailVerifierAnswer } from "../answers.ts";
import type { LookupContext } from "../lookup-context.ts";
import { claimed, claimedDomain, LookupProblem } from "../lookup-problem.ts";
import { type Findings, judge } from "../verify/verdict.ts";
import {
  describeVerification,
  type Verified,
  verifyAddress,
  verifyReserved,
} from "../verify/verify-address.ts";
import { sourceEntry } from "./entries.ts";
import { type Given, missing, waitMsOf } from "./given.ts";
import type { Found, LookupOperation } from "./operation.ts";
import { LOOKUP_PARAMETERS } from "./parameters.ts";
import { SAMPLE_CONTACT } from "./samples.ts";

type Data = EmailVerifierAnswer["data"];
type Params = EmailVerifierAnswer["meta"]["params"];

export interface EmailToVerify {
  /** As the caller wrote it. */
  email: string;
  /** `null` for a text that is not an address. */
  parsed: ParsedAddress | null;
  waitMs: number;
}

const EMAIL = patternOf(LOOKUP_PARAMETERS.email);

/** Delay before a slow verification should be requested again, after its time in line. */
const RETRY_AFTER_MS = 2000;

export const emailVerifier: LookupOperation<EmailToVerify, Data, Params, object> = {
  parameters: ["email", "maxDurationMs"],

  check: (given) => ({ ...checkEmail(given), waitMs: waitMsOf(given) }),

  echo: ({ email }) => ({ email }),

  async work(context, { email, parsed, waitMs }, account) {
    const { id = null } = account ?? {};
    // A text that is no address costs nothing: it tells nothing about a mailbox.
    if (parsed === null) return describe(email, await verifyAddress(context, { email, parsed, account: id }));
    await requireUnclaimed(context, parsed.address);
    const request = ["email-verifier", parsed.address];
    const reserved = await context.meter.reserve(account, "verifications", request, 1);
    const sought = { email, parsed, account: id };
    const found = await verifyReserved(context, reserved, sought, waitMs);
    const lateMs = found === null ? null : lateMsOf(found);
    if (found !== null && lateMs === null) return describe(email, found);
    const lineMs = context.verifier.lineMs(parsed);
    return pending(email, Math.max(RETRY_AFTER_MS, lateMs ?? lineMs + RETRY_AFTER_MS));
  },

  sample: (_, { email }) => {
    const findings: Findings = {
      fault: null,
      isGibberish: false,
      isWebmail: false,
      isDisposable: false,
      isAlias: false,
      hasLists: true,
      probe: SAMPLE_PROBE,
      contact: SAMPLE_CONTACT,
    };
    return describe(email, { findings, verdict: judge(findings), suggestion: null });
  },
};

const SAMPLE_PROBE: ProbeResult = {
  routing: "found",
  server: true,
  mailbox: true,
  acceptsAll: false,
  reason: null,
  retryAfterMs: null,
};

/** Reads `email`. */
function checkEmail(given: Given): Omit<EmailToVerify, "waitMs"> {
  const email = given.text("email")?.trim();
  if (email === undefined) throw missing(given, "the email");
  if (!EMAIL.test(email)) throw new LookupProblem("invalid_email", "The email address is not valid");
  return { email, parsed: pastedAddress(email) };
}

/** Rejects for a suppressed address. */
async function requireUnclaimed({ suppressions }: LookupContext, address: string): Promise<void> {
  const suppressed = await suppressions.ofAddress(address);
  if (suppressed === null) return;
  throw suppressed === "domain" ? claimedDomain() : claimed();
}

function describe(email: string, verified: Verified): Found<Data, object> {
  const sources = verified.findings.contact?.evidence.map(sourceEntry) ?? [];
  return { data: { ...describeVerification(email, verified), sources }, meta: {} };
}

function pending(email: string, retryAfterMs: number): Found<Data, object> {
  const data = { result: null, status: null, score: null, email };
  return { data, meta: {}, retryAfterMs };
}

/** When to ask again for a verification that found the line before the mail host too long; `null` for any other. */
function lateMsOf({ findings, verdict }: Verified): number | null {
  if (verdict.status !== "unknown" || findings.probe?.reason !== "budget") return null;
  return findings.probe.retryAfterMs ?? 0;
}
