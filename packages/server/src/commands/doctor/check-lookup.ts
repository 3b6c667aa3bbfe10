import { existsSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import { openDatabase } from "@outrigger/sql";
import { reasonOf } from "../../cli/error-reason.ts";
import type { LookupSettings } from "../../config/lookup-settings.ts";
import { type DatabaseTarget, databaseUrl, describeDatabase } from "../../config/targets/database-target.ts";
import { whyUnusable } from "../../lookup/lookup-error.ts";
import { checkMailIdentity } from "./check-mail-identity.ts";
import { type Finding, ok, problem } from "./finding.ts";

const CHECK = "lookup database";
const REMEDY = "Mend that, or name another in lookup.database";

/** Whether the lookup's database can be used, or made, and who asks mail servers is somebody. */
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
    return ok(CHECK, describeDatabase(target));
  } catch (error) {
    return problem(CHECK, `${describeDatabase(target)} cannot be used: ${whyUnusable(error)}`, REMEDY);
  }
}

/** Whether a file can be made there. */
async function checkPlace(path: string): Promise<Finding> {
  let place = dirname(path);
  while (!existsSync(place)) place = dirname(place);
  try {
    await access(`${place}/.`, constants.W_OK | constants.X_OK);
    return ok(CHECK, `file:${path}, which can be made`);
  } catch (error) {
    return problem(CHECK, `file:${path} cannot be made: ${reasonOf(error)}`, REMEDY);
  }
}
