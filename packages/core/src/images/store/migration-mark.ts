import type { BlobStore } from "../../contracts/blob-store.ts";
import { readAll } from "../../stores/read-all.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../record/known-version.ts";

/** The mark of a migration in the records' store of its target. */
export interface MigrationMark {
  /** Name of the source, without secrets. */
  source: string;
  /** Unix milliseconds. */
  startedAt: number;
  /** Unix milliseconds; `null`: the target is incomplete, and must not be used. */
  finishedAt: number | null;
  /** `restore`: a restore fills the target, and removes the mark at its end. Absent: a migration fills it. */
  kind?: "restore";
  /** The seen clock of the target when the mark was written: a later time proves that the target was used. */
  seenMs: number | null;
}

const KEY = "migration/state";

/**
 * Reads the mark of a migration from the records' store; `null`: there is none. A service must not start on the target of
 * an unfinished migration.
 */
export async function readMigrationMark(records: BlobStore): Promise<MigrationMark | null> {
  const blob = await records.get(KEY);
  if (blob === null) return null;
  const stored = JSON.parse((await readAll(blob.body)).toString("utf8")) as MigrationMark & { v?: unknown };
  const { v, ...mark } = stored; // Only `writeMigrationMark` writes this key.
  requireKnownVersion(v, `The mark of a migration (key "${KEY}")`);
  return mark;
}

export async function writeMigrationMark(records: BlobStore, mark: MigrationMark): Promise<void> {
  await records.put(KEY, Buffer.from(JSON.stringify({ v: FORMAT_VERSION, ...mark }), "utf8"));
}

/** Removes the mark when a service starts to use the target, so that no later migration overwrites it. */
export async function removeMigrationMark(records: BlobStore): Promise<void> {
  await records.delete(KEY);
}
