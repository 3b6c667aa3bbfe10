import type { ProbeResult } from "../src/contracts/mail-prober.ts";
import { contactOf, createLookupSite, createScriptedProber, LISTS } from "./lookup-site.ts";

export const ADA = "ada@example.com";
export const BOUNCE = { kind: "bounced", code: "5.1.1" } as const;
export const DELIVERY = { kind: "delivered" } as const;

/** A lookup with several accounts, whose prober answers as `answer` says at the time. The key `reporting` may report. */
export async function createReportSite(options: Parameters<typeof createLookupSite>[0] = {}) {
  const answer: { now: Partial<ProbeResult> } = { now: { server: true, mailbox: true, acceptsAll: false } };
  const prober = createScriptedProber(async () => answer.now);
  const site = await createLookupSite({ prober, lists: LISTS, known: [contactOf(ADA)], ...options });
  const other = (await site.lookup.createAccount()).account.id;
  const { key } = await site.lookup.createAccount({ id: "reporting", reports: true });
  const statusOf = async (account?: string, email = ADA) =>
    (await site.lookup.verifyEmail(email, { account })).data.status;
  const report = (fields: Record<string, unknown>, used = key) =>
    site.send("POST", "/v2/reports", { headers: { "x-api-key": used }, fields });
  return { ...site, prober, answer, other, reporting: key, statusOf, report };
}
