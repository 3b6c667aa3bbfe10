import { join } from "node:path";
import type { StorageTargets } from "@outrigger/core/stores";
import { ConfigError } from "./config-error.ts";
import type { ServerConfig, ServerLookupConfig } from "./config-rules.ts";
import { type DatabaseTarget, parseDatabaseUrl } from "./targets/database-target.ts";

/** The key `lookup` of a configuration with its defaults filled in. */
export interface LookupSettings extends Omit<ServerLookupConfig, "database"> {
  database: DatabaseTarget;
}

const FILE_NAME = "lookup.db";

/**
 * Fills in the defaults; `false` if the lookup is off.
 * @throws ConfigError if no database is configured and the records are not in a directory.
 */
export function lookupSettingsOf(
  lookup: false | ServerLookupConfig | undefined,
  { records }: StorageTargets,
): false | LookupSettings {
  if (lookup === undefined || lookup === false) return false;
  const { database, ...others } = lookup;
  if (database !== undefined) return { ...others, database: parseDatabaseUrl(database) };
  if (records.kind === "file") {
    return { ...others, database: { kind: "file", path: join(records.directory, FILE_NAME) } };
  }
  throw new ConfigError("The configuration", [
    "lookup.database: must be set if images are not stored in a directory (OUTRIGGER_LOOKUP_DATABASE)",
  ]);
}

/** The lookup's database of a configuration; `null` if there is none. By default it is a file beside the images. */
export function lookupDatabaseOf(
  { lookup }: Pick<ServerConfig, "lookup">,
  storage: StorageTargets,
): DatabaseTarget | null {
  const isBeside = lookup === undefined && storage.records.kind === "file";
  const settings = lookupSettingsOf(isBeside ? {} : lookup, storage);
  return settings === false ? null : settings.database;
}
