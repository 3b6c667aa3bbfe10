import type { Accounts, BlobStore, ContactSource, SuppressionList } from "@outrigger/core";
import {
  createSqlAccounts,
  createSqlContactSource,
  createSqlSuppressionList,
  openDatabase,
  type SqlDatabase,
} from "@outrigger/sql";
import { StartError } from "../config-error.ts";
import type { ServerSettings } from "../settings.ts";
import { databaseUrl, describeDatabase } from "./database-target.ts";
import { lookupError } from "./lookup-error.ts";
import { deriveLookupKeys, type LookupKeys } from "./lookup-keys.ts";
import { lookupSecrets } from "./lookup-secrets.ts";
import type { LookupSettings } from "./lookup-settings.ts";
import { makeDatabaseFile } from "./make-database-file.ts";

/** What the lookup has to do with: the database, and what is in it. */
export interface LookupData {
  database: SqlDatabase;
  contacts: ContactSource;
  accounts: Accounts;
  suppressions: SuppressionList;
  keys: LookupKeys;
  /** Closes the database. */
  close(): Promise<void>;
}

/** Settings of a server that has a lookup. */
export type WithLookup = Pick<ServerSettings, "secret"> & { lookup: LookupSettings };

/**
 * Opens the lookup's database, brings it up to date, and proves that its suppressions were made with a secret that is known.
 * @param records What keeps the records of images, and a secret where it can.
 * @throws StartError; nothing is open then.
 */
export async function openLookupData(settings: WithLookup, records: BlobStore): Promise<LookupData> {
  const target = settings.lookup.database;
  const secrets = await lookupSecrets(settings, records);
  let database: SqlDatabase | null = null;
  try {
    if (target.kind === "file") await makeDatabaseFile(target.path);
    database = openDatabase({ url: databaseUrl(target) });
    await database.ready();
    const suppressions = createSqlSuppressionList(database);
    const keys = await chooseKeys(secrets.map(deriveLookupKeys), suppressions, describeDatabase(target));
    const { close } = database;
    return {
      database,
      contacts: createSqlContactSource(database),
      accounts: createSqlAccounts(database),
      suppressions,
      keys,
      close,
    };
  } catch (cause) {
    await database?.close();
    throw lookupError(target, cause);
  }
}

/** Those that the suppressions were made with: with others, everybody who is left out would be told of again. */
async function chooseKeys(
  candidates: readonly LookupKeys[],
  suppressions: SuppressionList,
  where: string,
): Promise<LookupKeys> {
  const [first] = candidates;
  if (first === undefined) throw new Error("There is no secret to choose from");
  const present = await suppressions.present(candidates.map(({ marker }) => marker));
  const known = candidates.find(({ marker }) => present.has(marker));
  if (known !== undefined) return known;
  if ((await suppressions.count()) === 0) {
    await suppressions.add([first.marker]);
    return first;
  }
  throw new StartError(
    `The suppressions in the lookup's database ${where} were made with another secret, without which nobody is left out any more. Set lookup.secret to that, or add it to the list in secret`,
  );
}
