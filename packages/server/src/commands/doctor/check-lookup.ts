import { Resolver } from "node:dns/promises";
import { existsSync } from "node:fs";
import { access, constants, mkdtemp, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SmtpIdentity } from "@outrigger/verifier";
import { directoryReasonOf, reasonOf, serviceReasonOf } from "../../cli/error-reason.ts";
import { loadPart } from "../../cli/parts.ts";
import type { LookupSettings } from "../../config/lookup-settings.ts";
import { type DatabaseTarget, databaseUrl, describeDatabase } from "../../config/targets/database-target.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const DATABASE = "lookup database";
const REMEDY = "Fix this, or set another database in lookup.database";
const PROBING = "mail probing";
const DNS_MS = 3000;
const UNTRIED = "outgoing connections to port 25 were not tested; many providers block them";

/** Whether the lookup's database can be used or created, and the name sent to mail servers resolves. */
export async function checkLookup({ database, smtp, dnsServers }: LookupSettings): Promise<Finding[]> {
  const found = await checkDatabase(database);
  return smtp === undefined ? [found] : [found, await checkMailIdentity(smtp, dnsServers)];
}

async function checkDatabase(target: DatabaseTarget): Promise<Finding> {
  if (target.kind === "file" && !existsSync(target.path)) return await checkPlace(target.path);
  try {
    const { openDatabase } = await loadPart("lookup", () => import("@outrigger/sql"));
    // As at the start of a server, this migrates the schema.
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

/** Whether the file can be created. */
async function checkPlace(path: string): Promise<Finding> {
  let place = dirname(path);
  while (!existsSync(place)) place = dirname(place);
  try {
    // Permissions do not tell: in /proc, no user can create a file.
    await rmdir(await mkdtemp(join(place, ".outrigger-doctor-")));
    return ok(DATABASE, `file:${path}, which can be created`);
  } catch (error) {
    return problem(DATABASE, `file:${path} cannot be created: ${directoryReasonOf(error)}`, REMEDY);
  }
}

/**
 * Whether the name that this machine sends to mail servers resolves. Sends only DNS queries.
 * @param dnsServers @default the resolvers of this machine
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
    "Mail servers distrust such a name: use one that resolves to this machine's address and back",
  );
}
