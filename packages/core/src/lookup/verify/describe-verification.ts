import type { EmailVerification } from "../answers.ts";
import type { Verified } from "./verify-address.ts";

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
