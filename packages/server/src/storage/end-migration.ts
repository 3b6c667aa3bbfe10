import {
  type MigrationMark,
  readBackupManifest,
  readMigrationMark,
  removeMigrationMark,
} from "@outrigger/core/images";
import { StartError } from "../config/config-error.ts";
import { subjectOf } from "../config/targets/describe-storage.ts";
import type { OpenTarget } from "./open-storage.ts";
import { storageError } from "./storage-error.ts";

/** Proves that no migration or restore to these stores was left half-way, and that they are no backup. @throws StartError */
export async function requireMigrated(targets: readonly OpenTarget[]): Promise<void> {
  await readMark(recordsOf(targets));
}

/**
 * As {@link requireMigrated}; and from now on these stores are in use: their content differs from the copy, so no other run
 * of the migration may overwrite it.
 */
export async function endMigration(targets: readonly OpenTarget[]): Promise<void> {
  const records = recordsOf(targets);
  if ((await readMark(records)) === null) return;
  await withStorageError(records, removeMigrationMark(records.store));
}

async function readMark(records: OpenTarget): Promise<MigrationMark | null> {
  const subject = subjectOf(records.target, records.roles);
  if ((await withStorageError(records, readBackupManifest(records.store))) !== null) {
    throw new StartError(
      `${subject} is a backup, which is not served or changed. Bring it back by outrigger restore, to a storage of its own`,
    );
  }
  const mark = await withStorageError(records, readMigrationMark(records.store));
  if (mark === null || mark.finishedAt !== null) return mark;
  const [what, command] = mark.kind === "restore" ? ["restore", "restore"] : ["migration", "migrate"];
  throw new StartError(
    `${subject} has a part of the images only: their ${what} from ${mark.source} is not finished. Run outrigger ${command} again, which goes on where it was`,
  );
}

function recordsOf(targets: readonly OpenTarget[]): OpenTarget {
  const records = targets.find(({ roles }) => roles.includes("records"));
  if (records === undefined) throw new Error("No store for records");
  return records;
}

async function withStorageError<T>({ target, roles }: OpenTarget, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw storageError(target, roles, cause);
  }
}
