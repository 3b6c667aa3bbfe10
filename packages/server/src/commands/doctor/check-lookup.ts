import { Resolver } from "node:dns/promises";
import { existsSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import { openDatabase } from "@outrigger/sql";
import type { SmtpIdentity } from "@outrigger/verifier";
import { reasonOf, serviceReasonOf } from "../../cli/error-reason.ts";
import type { LookupSettings } from "../../config/lookup-settings.ts";
import { type DatabaseTarget, databaseUrl, describeDatabase } from "../../config/targets/database-target.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const DATABASE = "lookup database";
const REMEDY = "Mend that, or name another in lookup.database";
const PROBING = "mail probing";
const DNS_MS = 3000;
const UNTRIED = "whether connections to port 25 leave this network was not tried: many providers block them";

/** Whether the lookup's database can be used or made, and the name given to mail servers resolves. */
export async function checkLookup({ database, smtp, dnsServers }: LookupSettings): Promise<Finding[]> {
  const found = await checkDatabase(database);
  return smtp === undefined ? [found] : [found, await checkMailIdentity(smtp, dnsServers)];
}

async function checkDatabase(target: DatabaseTarget): Promise<Finding> {
  if (target.kind === "file" && !existsSync(target.path)) return await checkPlace(target.path);
  try {
    // What a server does at its start: it brings the schema up to date.
    const database = openDatabase({ url: databaseUrl(target) });
    try {
      await database.ready();
      if (target.kind === "file") await access(target.path, constants.W_OK);
    } finally {
      await database.close();
    }
    return ok(DATABASE, describeDatabase(target));
  } catch (error) {
    return problem(DATABASE, `${describeDatabase(target)} cannot be used: ${serviceReasonOf(error)}`, REMEDY);
  }
}

/** Whether a file can be made there. */
async function checkPlace(path: string): Promise<Finding> {
  let place = dirname(path);
  while (!existsSync(place)) place = dirname(place);
  try {
    await access(`${place}/.`, constants.W_OK | constants.X_OK);
    return ok(DATABASE, `file:${path}, which can be made`);
  } catch (error) {
    return problem(DATABASE, `file:${path} cannot be made: ${reasonOf(error)}`, REMEDY);
  }
}

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
  if (addresses.length > 0) return ok(PROBING, `${helo} is ${addresses.join(" and ")}; ${UNTRIED}`);
  const reasons = answers.flatMap((answer) =>
    answer.status === "rejected" ? [reasonOf(answer.reason)] : [],
  );
  return warning(
    PROBING,
    `lookup.smtp.helo does not resolve (${reasons[0] ?? "no address"}); ${UNTRIED}`,
    "Mail servers distrust such a name: take one that resolves to this machine's address, and back",
  );
}
