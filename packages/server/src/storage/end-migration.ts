import { type MigrationMark, readMigrationMark, removeMigrationMark } from "@outrigger/core/images";
import { readBackupManifest } from "@outrigger/ops";
import { StartError } from "../config/config-error.ts";
import { subjectOf } from "../config/targets/describe-storage.ts";
import type { OpenTarget } from "./open-storage.ts";
import { withStorageError } from "./storage-error.ts";

/** Verifies that no migration or restore to these stores is unfinished, and that they are not a backup. @throws StartError */
export async function requireMigrated(targets: readonly OpenTarget[]): Promise<void> {
  await readMark(recordsOf(targets));
}

/**
 * Verifies as {@link requireMigrated} does, and marks the stores as in use: their content now differs from the source, so a
 * later run of the migration must not overwrite it.
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
      `${subject} is a backup, which is not served or changed. Restore it to separate storage with outrigger restore`,
    );
  }
  const mark = await withStorageError(records, readMigrationMark(records.store));
  if (mark === null || mark.finishedAt !== null) return mark;
  const [what, command] = mark.kind === "restore" ? ["restore", "restore"] : ["migration", "migrate"];
  throw new StartError(
    `${subject} has only some of the images: their ${what} from ${mark.source} is unfinished. Run outrigger ${command} again to resume it`,
  );
}

function recordsOf(targets: readonly OpenTarget[]): OpenTarget {
  const records = targets.find(({ roles }) => roles.includes("records"));
  if (records === undefined) throw new Error("No store for records");
  return records;
}
