import { type MailReport, REPORT_MS } from "../../contracts/accounts.ts";
import type { ProbeResult } from "../../contracts/mail-prober.ts";
import type { LookupContext } from "../lookup-context.ts";

/** How long a delivery says more than a refusal, in milliseconds. Refusals are cached for as long. */
const FRESH_MS = 3 * 86_400_000;

/** A mail server said that the mailbox does not exist, when mail was sent to it. */
const BOUNCED: ProbeResult = {
  ...{ routing: "found", server: true, mailbox: false, acceptsAll: null },
  ...{ reason: "user_unknown", retryAfterMs: null },
};

/** The latest reports on an address: `own` counts for this account, and `shared`, the operator's, for all. */
export async function reportsOn(
  { accounts, settings }: LookupContext,
  address: string,
  account: string | null,
) {
  const known = (await accounts.reportsOn?.(address, account, settings.now() - REPORT_MS)) ?? [];
  return { own: known[0] ?? null, shared: known.find((report) => report.account === null) ?? null };
}

/**
 * What is known of a mailbox after a report. A bounce holds, whatever a server says to a probe: many accept first. A delivery proves
 * nothing about a domain that accepts any name, and a later refusal ends it.
 */
export function afterReport(probe: ProbeResult, report: MailReport | null, nowMs: number): ProbeResult {
  if (report === null) return probe;
  if (report.kind === "bounced") return BOUNCED;
  const reason = probe.acceptsAll === true ? probe.reason : null;
  if (probe.mailbox !== false) return { ...probe, mailbox: true, reason };
  const isFresh = nowMs - report.at <= FRESH_MS;
  return isFresh ? { ...probe, mailbox: true, acceptsAll: null, reason: null } : probe;
}
