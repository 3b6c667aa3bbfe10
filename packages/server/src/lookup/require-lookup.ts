import { statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileReasonOf } from "../cli/error-reason.ts";
import { StartError } from "../config/config-error.ts";
import type { ServerSettings } from "../config/settings.ts";
import type { DatabaseTarget } from "../config/targets/database-target.ts";
import { requireOwner } from "../storage/data-directory.ts";
import { lookupError, NAME_ANOTHER, noDatabase, type WithLookup } from "./open-lookup-data.ts";

/**
 * Verifies, without contacting a database server, that the lookup's data and secret exist and belong to this user. A file
 * written by another user would be unreadable to the server.
 * @param mayMake Whether a missing database and its data directory may be created.
 * @throws StartError with the remedy.
 */
export function requireLookup(
  { lookup, storage, secret }: ServerSettings & WithLookup,
  mayMake: boolean,
): void {
  const { database } = lookup;
  const file = database.kind === "file" ? database.path : null;
  const isNew = file !== null && !isMade(database, file);
  if (isNew && !mayMake) throw noDatabase(database);
  if (file !== null) requireOwnFile(file);
  if ((lookup.secret ?? secret) !== undefined || storage.records.kind !== "file") return;
  const { directory } = storage.records;
  const kept = join(directory, "secret");
  // A new secret of this command is refused later if another one has marked the database.
  const isOwn = file === null ? mayMake : isNew && !relative(directory, file).startsWith("..");
  // Suppressions made with another secret than the server's or the app's would have no effect.
  if (!isOwn && !isThere(kept)) {
    throw new StartError(
      `There is no ${kept}, the secret of the lookup's database. A server creates it at its first start. If an app serves that database, set OUTRIGGER_SECRET or lookup.secret to the secret of the app. ${NAME_ANOTHER}`,
    );
  }
  requireOwnFile(kept);
}

/** Whether the file of a database has content. @throws StartError for a directory, and for what this user may not see. */
function isMade(database: DatabaseTarget, path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) throw new Error("it is a directory");
    return found !== undefined && found.size > 0;
  } catch (error) {
    throw lookupError(database, fileReasonOf(error));
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function requireOwnFile(path: string): void {
  const owner = statSync(path, { throwIfNoEntry: false })?.uid;
  if (owner !== undefined) requireOwner(`${path} belongs`, owner);
}
