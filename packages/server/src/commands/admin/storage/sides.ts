import {
  distinctTargets,
  type FileTarget,
  ROLES,
  type S3Target,
  type StorageTargets,
} from "@outrigger/core/stores";
import { note } from "../../../cli/print.ts";
import { checkConfig } from "../../../config/check-config.ts";
import { usageError } from "../../../config/config-error.ts";
import { readStorageText, targetsOf } from "../../../config/storage-config.ts";
import { describeTargets } from "../../../config/targets/describe-storage.ts";
import { type OpenStorage, type OpenTarget, openStorage } from "../../../storage/open-storage.ts";

const SOURCE = null;

/** The location of a backup. */
export type BackupPlace = FileTarget | S3Target;

/** The stores that an option names. @throws ConfigError */
export function readSide(text: string, flag: string): StorageTargets {
  const { storage } = checkConfig({ storage: readStorageText(text, SOURCE, flag) }, SOURCE, (key) => {
    return key.replace(/^storage/, flag);
  });
  const targets = targetsOf(storage, undefined);
  if (ROLES.some((role) => targets[role].kind === "memory")) {
    throw usageError(
      `${flag}: must not be memory:, which other processes cannot access; for renditions, name the store of the originals`,
    );
  }
  return targets;
}

/** The URL of a backup. @throws ConfigError */
export function readPlace(text: string, flag: string): BackupPlace {
  const [only, ...others] = distinctTargets(readSide(text, flag)).map(({ target }) => target);
  if (others.length === 0 && (only?.kind === "file" || only?.kind === "s3")) return only;
  throw usageError(`${flag}: must be one URL that begins with file: or s3:`);
}

/**
 * Even one shared role is rejected: changes to one side must not change the other.
 * @throws ConfigError with this problem.
 */
export function requireApart(one: StorageTargets, other: StorageTargets, problem: string): void {
  const known = new Set(Object.values(other).map((target) => JSON.stringify(target)));
  if (ROLES.some((role) => known.has(JSON.stringify(one[role])))) throw usageError(problem);
}

/** The name of a storage; the same storage always has the same name. */
export function nameOfStorage(targets: StorageTargets): string {
  const described = describeTargets(targets);
  return typeof described === "string" ? described : JSON.stringify(described);
}

/** Runs `work` with the open stores. @param isWritten Prints warnings about data that the stores could lose. */
export async function withStorage(
  targets: StorageTargets,
  work: (storage: OpenStorage) => Promise<void>,
  isWritten = false,
): Promise<void> {
  const storage = await openStorage(targets);
  const run = async () => {
    if (isWritten) await printWarnings(storage.targets);
    await work(storage);
  };
  await run().finally(() => storage.close());
}

/** Runs `work` with the open store of a backup. @param isWritten As of {@link withStorage}. */
export async function withPlace(
  place: BackupPlace,
  work: (store: OpenTarget["store"]) => Promise<void>,
  isWritten = false,
): Promise<void> {
  const targets = { records: place, originals: place, renditions: place };
  await withStorage(targets, ({ stores }) => work(stores.records), isWritten);
}

async function printWarnings(targets: readonly OpenTarget[]): Promise<void> {
  for (const { warnings } of targets) for (const text of await warnings()) note(`warning: ${text}`);
}
