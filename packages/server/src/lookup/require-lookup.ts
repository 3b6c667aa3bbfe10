import { statSync } from "node:fs";
import { join, relative } from "node:path";
import { StartError } from "../config/config-error.ts";
import type { ServerSettings } from "../config/settings.ts";
import { describeDatabase } from "../config/targets/database-target.ts";
import type { WithLookup } from "./open-lookup-data.ts";

const NAME_ANOTHER =
  "Name the right one by --data, OUTRIGGER_DATA, OUTRIGGER_LOOKUP_DATABASE or the configuration file";

/**
 * Proves, as far as that can be seen without asking a server, that the lookup's data and secret are there, and that this user
 * takes nothing away from the server's.
 * @param mayMake Whether a database that is not there may be made, and the data directory around it.
 * @throws StartError saying what to do instead.
 */
export function requireLookup(
  { lookup, storage, secret }: ServerSettings & WithLookup,
  mayMake: boolean,
): void {
  const { database } = lookup;
  const file = database.kind === "file" ? database.path : null;
  const isNew = file !== null && !isThere(file);
  if (isNew && !mayMake) {
    throw new StartError(`There is no lookup's database ${describeDatabase(database)}. ${NAME_ANOTHER}`);
  }
  if (file !== null) requireOwner(file);
  const isConfigured = lookup.secret !== undefined || secret !== undefined;
  if (isConfigured || storage.records.kind !== "file") return;
  const { directory } = storage.records;
  const kept = join(directory, "secret");
  const isOwn = isNew && !relative(directory, file).startsWith("..");
  // With another secret than the server's or the app's, its suppressions would mean nothing.
  if (!isOwn && !isThere(kept)) {
    throw new StartError(
      `There is no ${kept}, the secret of the lookup's database, which a server makes at its first start. If an app serves that database, give its secret by OUTRIGGER_SECRET or lookup.secret. ${NAME_ANOTHER}`,
    );
  }
  requireOwner(kept);
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Files are made for their user alone: what root writes, the server could not read any more. */
function requireOwner(path: string): void {
  const owner = statSync(path, { throwIfNoEntry: false })?.uid;
  const userId = process.getuid?.();
  if (owner === undefined || userId === undefined || owner === userId) return;
  throw new StartError(
    `${path} belongs to the user with the number ${owner}, this user's is ${userId}. Run it as that user, e.g. by sudo -u '#${owner}'`,
  );
}
