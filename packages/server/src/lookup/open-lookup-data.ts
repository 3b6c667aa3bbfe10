import { dirname } from "node:path";
import { isServiceError } from "@outrigger/core";
import { readIdentity } from "@outrigger/core/images";
import {
  type Accounts,
  type ContactSource,
  createSuppressions,
  deriveLookupKeys,
  type LookupKeys,
  type SuppressionList,
  type Suppressions,
} from "@outrigger/core/lookup";
import { type BlobStore, isLocalStore, makeDirectories } from "@outrigger/core/stores";
import {
  createSqlAccounts,
  createSqlContactSource,
  createSqlSuppressionList,
  openDatabase,
  type SqlDatabase,
} from "@outrigger/sql";
import { directoryReasonOf, serviceReasonOf } from "../cli/error-reason.ts";
import { ConfigError, StartError } from "../config/config-error.ts";
import type { ServerConfig } from "../config/config-rules.ts";
import type { LookupSettings } from "../config/lookup-settings.ts";
import { secretsOf } from "../config/secret-text.ts";
import { type DatabaseTarget, databaseUrl, describeDatabase } from "../config/targets/database-target.ts";

/** The database of the lookup and its contents. */
export interface LookupData {
  database: SqlDatabase;
  contacts: ContactSource;
  accounts: Accounts;
  suppressionList: SuppressionList;
  /** The entries of the list, verified to have been made with `secrets`. */
  suppressions: Suppressions;
  /** The first is the current one. */
  secrets: Buffer[];
  /** The keys derived from each secret. */
  keys: [LookupKeys, ...LookupKeys[]];
  /** Whether the database was made by this call. */
  isNew: boolean;
  /** Closes the database. */
  close(): Promise<void>;
}

/** Settings of a server that has a lookup. */
export type WithLookup = Pick<ServerConfig, "secret"> & { lookup: LookupSettings };

/**
 * Opens the lookup's database, creates missing tables, and verifies that its suppressions were made with a known secret.
 * @param records The store of image records; a local one also keeps a secret.
 * @param mayMake Whether a missing database is made.
 * @throws StartError; nothing stays open.
 */
export async function openLookupData(
  settings: WithLookup,
  records: BlobStore,
  mayMake = true,
): Promise<LookupData> {
  const target = settings.lookup.database;
  const found = await lookupSecrets(settings, records);
  const { secrets } = found;
  let database: SqlDatabase | null = null;
  try {
    if (target.kind === "file") makeDatabaseDirectory(target.path);
    database = openDatabase({ url: databaseUrl(target) });
    const isNew = !(await database.isMade());
    if (isNew && !mayMake) throw noDatabase(target);
    await database.ready();
    const suppressionList = createSqlSuppressionList(database);
    const suppressions = createSuppressions(suppressionList, secrets);
    await requireSecret(suppressions, found, describeDatabase(target));
    const { close } = database;
    return {
      database,
      contacts: createSqlContactSource(database),
      accounts: createSqlAccounts(database),
      suppressionList,
      suppressions,
      secrets,
      keys: deriveLookupKeys(secrets),
      isNew,
      close,
    };
  } catch (cause) {
    await database?.close();
    throw lookupError(target, cause);
  }
}

/**
 * Verifies that the suppressions were made with a known secret. With another secret, suppressed people would be served.
 * @throws StartError that names the setting to change.
 */
async function requireSecret(
  suppressions: Suppressions,
  { isConfigured }: LookupSecrets,
  where: string,
): Promise<void> {
  try {
    await suppressions.ready();
  } catch (cause) {
    if (!isServiceError(cause, "host_misuse")) throw cause;
    const remedy = isConfigured
      ? "Set lookup.secret to the earlier secret, or to a list of both"
      : "The secret in use was created for the data directory and is not configured. Set lookup.secret or OUTRIGGER_SECRET to the secret of the app or server that uses this database";
    throw new StartError(
      `The suppressions in the lookup's database ${where} were made with another secret. Without it, suppressed people would be served. ${remedy}`,
      { cause },
    );
  }
}

/** The secrets from which the lookup's keys are derived. */
export interface LookupSecrets {
  /** The first is the current one. */
  secrets: Buffer[];
  /** `false` for the secret that the data directory created. */
  isConfigured: boolean;
}

/**
 * Finds the secrets of the lookup.
 * @param records The store of image records; a local one also keeps a secret.
 * @throws StartError if the secret of the images is missing, ConfigError if no secret outlives the process.
 */
export async function lookupSecrets(
  { secret, lookup }: WithLookup,
  records: BlobStore,
): Promise<LookupSecrets> {
  const configured = lookup.secret ?? secret;
  if (configured !== undefined) return { secrets: secretsOf(configured), isConfigured: true };
  if (isLocalStore(records)) {
    // A directory with an identity has had a secret. A new secret would not match the suppressions.
    if ((await records.readLocalSecret()) === null && (await readIdentity(records)) !== null) {
      throw new StartError(
        `The secret of the images is missing. Restore ${records.secretPath} from a backup`,
      );
    }
    return { secrets: [await records.localSecret()], isConfigured: false };
  }
  throw new ConfigError("The configuration", [
    "lookup.secret: must be set for the lookup's suppressions. Set it, secret or OUTRIGGER_SECRET to at least 32 random bytes, the same for all processes",
  ]);
}

/** Creates the directory of a database file if missing. @throws StartError */
export function makeDatabaseDirectory(path: string): void {
  try {
    makeDirectories(dirname(path));
  } catch (cause) {
    throw new StartError(
      `The directory ${dirname(path)} of the lookup's database cannot be used: ${directoryReasonOf(cause)}`,
      { cause },
    );
  }
}

/** How to name another database than the one of an error. */
export const NAME_ANOTHER =
  "Set it with --data, OUTRIGGER_DATA, OUTRIGGER_LOOKUP_DATABASE or the configuration file";

/** The error that there is no database to read or change. */
export function noDatabase(target: DatabaseTarget): StartError {
  return new StartError(`There is no lookup database ${describeDatabase(target)}. ${NAME_ANOTHER}`);
}

/** The error that the lookup's database cannot be used: one line with the reason, without user and password. */
export function lookupError(target: DatabaseTarget, cause: unknown): StartError {
  if (cause instanceof StartError) return cause;
  return new StartError(
    `The lookup's database ${describeDatabase(target)} cannot be used: ${serviceReasonOf(cause)}`,
    { cause },
  );
}
