import type { Dirent } from "node:fs";
import { readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { DueEntry, DueIndex } from "../../contracts/due-index.ts";
import { checkDueList, checkDueQuery, dueName, parseDueName } from "../due-list.ts";
import { createDurableDirectories, createSharedFlush, removeIfEmpty } from "./fs-durable-directories.ts";
import type { EmptyFiles } from "./fs-empty-files.ts";
import { systemCode } from "./fs-errors.ts";
import type { FileSystem } from "./fs-files.ts";

export const HOUR_MS = 3_600_000;
/** Enough base-36 digits for the last hour that an entry can have. */
const BUCKET_DIGITS = 5;
const BUCKET = /^[0-9a-z]{5}$/;
/** Machines whose clocks differ by less agree on which directories they no longer trust. */
const CLOCK_SKEW_MS = 3_600_000;
/** Finding a directory removed this often means that the cause is not other processes. */
const MAX_ATTEMPTS = 1000;

/**
 * A due index as empty files `due/<list>/<hour>/<time>.<id>`, which share inodes. Listing due entries reads
 * the names of the hours, then the hours that have begun. Later entries cost only the names of their hours.
 *
 * An entry is acknowledged once its name and its parent directories are flushed. An hour's directory is
 * trusted once it was flushed. It is therefore deleted only if it is empty and the hour ended long ago, and
 * it is not trusted after the hour.
 * @param root directory of the store.
 */
export function createFsDueIndex(root: string, empties: EmptyFiles, files: FileSystem): DueIndex {
  const flush = createSharedFlush(files);
  const directories = createDurableDirectories(root, flush);

  function listDirectory(list: string): string {
    checkDueList(list);
    return join(root, "due", list);
  }

  function bucketOf(list: string, entry: DueEntry): string {
    return join(listDirectory(list), bucketName(hourOf(entry)));
  }

  /** Gives an entry a name that was not flushed before. */
  function createFile(path: string): void {
    try {
      empties.create(path);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
      // Its flush may have failed, and a second flush would falsely succeed. The file must never be absent in
      // between.
      empties.replace(path);
    }
  }

  return {
    async addDue(list, entry, signal) {
      const name = dueName(entry);
      const bucket = bucketOf(list, entry);
      for (let attempt = 1; ; attempt++) {
        signal?.throwIfAborted();
        if (hasEndedFor(hourOf(entry), 0)) directories.distrust(bucket);
        try {
          await directories.make(bucket);
          createFile(join(bucket, name));
          return await flush(bucket);
        } catch (error) {
          if (systemCode(error) !== "ENOENT" || attempt === MAX_ATTEMPTS) throw error;
          // Another process deleted a parent directory.
          directories.distrust();
        }
      }
    },
    async removeDue(list, entry) {
      const path = join(bucketOf(list, entry), dueName(entry));
      try {
        // Not flushed: an entry that a power cut restores is processed once more, which does no harm.
        await unlink(path);
      } catch (error) {
        if (systemCode(error) !== "ENOENT") throw error;
      }
    },
    async listDue(list, untilMs, limit) {
      checkDueQuery(untilMs, limit);
      const path = listDirectory(list);
      const found: DueEntry[] = [];
      for (const hour of await hoursOf(path)) {
        if (hour * HOUR_MS > untilMs || found.length === limit) break;
        const bucket = join(path, bucketName(hour));
        const entries = await entriesOf(bucket, hour);
        // Done here, since entries are often removed within their hour. Otherwise every listing would read
        // all past hours.
        if (entries.length === 0 && hasEndedFor(hour, CLOCK_SKEW_MS)) await removeIfEmpty(bucket);
        const due = entries.filter(({ dueMs }) => dueMs <= untilMs);
        found.push(...due.slice(0, limit - found.length));
      }
      return found;
    },
  };
}

function hourOf({ dueMs }: DueEntry): number {
  return Math.floor(dueMs / HOUR_MS);
}

/** Name of the directory of an hour, counted since 1970. */
export function bucketName(hour: number): string {
  return hour.toString(36).padStart(BUCKET_DIGITS, "0");
}

function hasEndedFor(hour: number, ms: number): boolean {
  return (hour + 1) * HOUR_MS + ms <= Date.now();
}

/** The hours that have a directory, in ascending order. */
export async function hoursOf(list: string): Promise<number[]> {
  const directories = (await read(list)).filter((found) => found.isDirectory() && BUCKET.test(found.name));
  return directories.map(({ name }) => Number.parseInt(name, 36)).sort((a, b) => a - b);
}

/** The entries of an hour, oldest first. Other files are ignored. */
async function entriesOf(bucket: string, hour: number): Promise<DueEntry[]> {
  const files = (await read(bucket)).filter((found) => found.isFile());
  const entries = files.map(({ name }) => parseDueName(name)).filter((entry) => entry !== null);
  return entries.filter((entry) => hourOf(entry) === hour).sort((a, b) => a.dueMs - b.dueMs);
}

/** The entries of a directory; none if it does not exist. */
export async function read(directory: string): Promise<Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    return [];
  }
}
