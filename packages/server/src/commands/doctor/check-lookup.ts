import { Resolver } from "node:dns/promises";
import { existsSync } from "node:fs";
import { access, constants, mkdtemp, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { directoryReasonOf, reasonOf, serviceReasonOf } from "../../cli/error-reason.ts";
import { loadPart } from "../../cli/parts.ts";
import type { LookupSettings } from "../../config/lookup-settings.ts";
import { type DatabaseTarget, databaseUrl, describeDatabase } from "../../config/targets/database-target.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const DATABASE = "lookup database";
const REMEDY = "Fix this, or set another database in lookup.database";
const DNS_MS = 3000;
const UNTRIED = "outgoing connections to port 25 were not tested; many providers block them";

/** Whether the lookup's database can be used or created, and the name sent to mail servers resolves. Sends only DNS queries. */
export async function checkLookup({ database, smtp, dnsServers = [] }: LookupSettings): Promise<Finding[]> {
  const isMissing = database.kind === "file" && !existsSync(database.path);
  const found = isMissing ? await checkDirectory(database.path) : await checkDatabase(database);
  return smtp === undefined ? [found] : [found, await checkHelo(smtp.helo, dnsServers)];
}

async function checkHelo(helo: string, dnsServers: readonly string[]): Promise<Finding> {
  const resolver = new Resolver({ timeout: DNS_MS, tries: 1 });
  if (dnsServers.length > 0) resolver.setServers(dnsServers);
  const answers = await Promise.allSettled([resolver.resolve4(helo), resolver.resolve6(helo)]);
  const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  if (addresses.length > 0) return ok("mail probing", `${helo} is ${addresses.join(" and ")}; ${UNTRIED}`);
  const [first] = answers;
  const reason = first.status === "rejected" ? reasonOf(first.reason) : "no address";
  return warning(
    "mail probing",
    `lookup.smtp.helo does not resolve (${reason}); ${UNTRIED}`,
    "Mail servers distrust such a name: use one that resolves to this machine's address and back",
  );
}

async function checkDatabase(target: DatabaseTarget): Promise<Finding> {
  try {
    const { openDatabase } = await loadPart("lookup", () => import("@outrigger/sql"));
    // As at the start of a server, this migrates the schema.
    const database = openDatabase({ url: databaseUrl(target) });
    await database.ready().finally(() => database.close());
    if (target.kind === "file") await access(target.path, constants.W_OK);
    return ok(DATABASE, describeDatabase(target));
  } catch (error) {
    return problem(DATABASE, `${describeDatabase(target)} cannot be used: ${serviceReasonOf(error)}`, REMEDY);
  }
}

/** Whether the file can be created. */
async function checkDirectory(path: string): Promise<Finding> {
  let parent = dirname(path);
  while (!existsSync(parent)) parent = dirname(parent);
  try {
    // Permissions do not tell: in /proc, no user can create a file.
    await rmdir(await mkdtemp(join(parent, ".outrigger-doctor-")));
    return ok(DATABASE, `file:${path}, which can be created`);
  } catch (error) {
    return problem(DATABASE, `file:${path} cannot be created: ${directoryReasonOf(error)}`, REMEDY);
  }
}
