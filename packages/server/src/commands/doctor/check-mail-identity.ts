import { Resolver } from "node:dns/promises";
import type { SmtpIdentity } from "@outrigger/verifier";
import { reasonOf } from "../../cli/error-reason.ts";
import { type Finding, ok, warning } from "./finding.ts";

const CHECK = "mail probing";
const DNS_MS = 3000;
const UNTRIED = "whether connections to port 25 leave this network was not tried: many providers block them";

/**
 * Whether the name by which this machine greets mail servers resolves. Only the DNS is asked.
 * @param dnsServers @default the machine's
 */
export async function checkMailIdentity(
  { helo }: SmtpIdentity,
  dnsServers: readonly string[] | undefined,
): Promise<Finding> {
  const resolver = new Resolver({ timeout: DNS_MS, tries: 1 });
  if (dnsServers !== undefined && dnsServers.length > 0) resolver.setServers(dnsServers);
  const answers = await Promise.allSettled([resolver.resolve4(helo), resolver.resolve6(helo)]);
  const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  if (addresses.length > 0) return ok(CHECK, `${helo} is ${addresses.join(" and ")}; ${UNTRIED}`);
  const reasons = answers.flatMap((answer) =>
    answer.status === "rejected" ? [reasonOf(answer.reason)] : [],
  );
  return warning(
    CHECK,
    `lookup.smtp.helo does not resolve (${reasons[0] ?? "no address"}); ${UNTRIED}`,
    "Mail servers distrust such a name: take one that resolves to this machine's address, and back",
  );
}
