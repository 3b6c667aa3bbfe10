import type { BlobStore } from "../../contracts/blob-store.ts";
import { readAll } from "../../stores/read-all.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../record/known-version.ts";

/** What a migration leaves in the records' store of its target. */
export interface MigrationMark {
  /** Where the images come from, without secrets. */
  source: string;
  /** Unix milliseconds. */
  startedAt: number;
  /** Unix milliseconds; `null`: the target is not whole, and must not be used. */
  finishedAt: number | null;
  /** That the target is filled by a restore, which removes the mark at its end. Absent: by a migration. */
  kind?: "restore";
  /** What the clock of the images had noted at the target then: a later time says that it was used. */
  seenMs: number | null;
}

const KEY = "migration/state";

/**
 * The mark of a migration to a store of records; `null` where there is none. A service must not be started on one that is
 * not finished.
 */
export async function readMigrationMark(records: BlobStore): Promise<MigrationMark | null> {
  const blob = await records.get(KEY);
  if (blob === null) return null;
  const stored = JSON.parse((await readAll(blob.body)).toString("utf8")) as MigrationMark & { v?: unknown };
  const { v, ...mark } = stored; // Written below, under a key of our own.
  requireKnownVersion(v, `The mark of a migration (key "${KEY}")`);
  return mark;
}

export async function writeMigrationMark(records: BlobStore, mark: MigrationMark): Promise<void> {
  await records.put(KEY, Buffer.from(JSON.stringify({ v: FORMAT_VERSION, ...mark }), "utf8"));
}

/** Removes the mark: whoever begins to use a target calls it, so that no later migration overwrites what is in use. */
export async function removeMigrationMark(records: BlobStore): Promise<void> {
  await records.delete(KEY);
}
