import type { ProbeResult } from "../../contracts/mail-prober.ts";
import { type JsonSchema, patternOf } from "../../schema/json-schema.ts";
import { type ParsedAddress, parseAddress } from "../address/parse-address.ts";
import type { EmailVerifierAnswer } from "../answers.ts";
import type { LookupContext } from "../lookup-context.ts";
import { claimed, claimedDomain, LookupProblem } from "../lookup-problem.ts";
import { type Findings, judge } from "../verify/verdict.ts";
import { isCharged, type Verified, verifyAddress } from "../verify/verify-address.ts";
import { sourceEntry } from "./entries.ts";
import { waitMsOf } from "./given.ts";
import type { Found, LookupOperation } from "./operation.ts";
import { SAMPLE_CONTACT } from "./samples.ts";

type Data = EmailVerifierAnswer["data"];
type Params = EmailVerifierAnswer["meta"]["params"];

interface EmailToVerify {
  /** As the caller wrote it. */
  email: string;
  /** `null` for a text that is not an address. */
  parsed: ParsedAddress | null;
  waitMs: number;
}

/** The parameter `email`. A text that is not an address also gets a verdict. */
export const EMAIL_SCHEMA = {
  type: "string",
  pattern: "^\\s*[^\\u0000-\\u001f\\u007f-\\u009f]*@[^\\u0000-\\u001f\\u007f-\\u009f]*\\s*$",
  description: "The address to verify.",
  examples: ["ada.lovelace@example.com"],
} as const satisfies JsonSchema;

const EMAIL = patternOf(EMAIL_SCHEMA);

/** Delay before a slow verification should be requested again. */
const RETRY_AFTER_MS = 2000;

export const emailVerifier: LookupOperation<EmailToVerify, Data, Params, object> = {
  check(given) {
    const email = given.text("email")?.trim();
    if (email === undefined) throw new LookupProblem("wrong_params", "You are missing the email parameter");
    if (!EMAIL.test(email)) {
      throw new LookupProblem("invalid_email", "The email address is not valid");
    }
    return { email, parsed: parseAddress(email), waitMs: waitMsOf(given) };
  },

  echo: ({ email }) => ({ email }),

  async work(context, { email, parsed, waitMs }, account) {
    if (parsed !== null) await requireUnclaimed(context, parsed.address);
    const request = ["email-verifier", parsed?.address ?? email];
    const reservation = await context.meter.reserve(account, "verifications", request, 1);
    let cost: number | null = 0;
    try {
      const found = await verifyAddress(context, email, parsed, waitMs);
      cost = found === null ? null : isCharged(found.verdict) ? 1 : 0;
      return found === null ? pending(email) : describe(email, found);
    } finally {
      // A verification in progress keeps its reservation; the next request for it settles it.
      if (cost !== null) await reservation.settle(cost);
    }
  },

  sample: (_, { email }) => {
    const findings: Findings = {
      fault: null,
      isGibberish: false,
      isWebmail: false,
      isDisposable: false,
      isAlias: false,
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

async function requireUnclaimed({ suppressions }: LookupContext, address: string): Promise<void> {
  const suppressed = await suppressions.ofAddress(address);
  if (suppressed === null) return;
  throw suppressed === "domain" ? claimedDomain() : claimed();
}

function describe(email: string, { findings, verdict, suggestion }: Verified): Found<Data, object> {
  const { probe, contact } = findings;
  return {
    data: {
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
      sources: contact?.evidence.map(sourceEntry) ?? [],
    },
    meta: {},
  };
}

function pending(email: string): Found<Data, object> {
  const data = { result: null, status: null, score: null, email };
  return { data, meta: {}, retryAfterMs: RETRY_AFTER_MS };
}
