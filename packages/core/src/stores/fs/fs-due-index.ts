import type { Dirent } from "node:fs";
import { readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { DueEntry, DueIndex } from "../../contracts/due-index.ts";
import { checkDueList, checkDueQuery, dueName, parseDueName } from "../due-list.ts";
import {
  createSharedFlush,
  DurableDirectories,
  type FileSystem,
  type MarkerFiles,
  removeIfEmpty,
  systemCode,
} from "./fs-files.ts";

export const HOUR_MS = 3_600_000;
/** Enough base-36 digits for the last hour that an entry can have. */
const BUCKET_DIGITS = 5;
const BUCKET = /^[0-9a-z]{5}$/;
/** Machines whose clocks differ by less agree on which directories they no longer trust. */
const CLOCK_SKEW_MS = 3_600_000;
/** Finding a directory removed this often means that the cause is not other processes. */
const MAX_ATTEMPTS = 1000;

/**
 * A due index as markers `due/<list>/<hour>/<time>.<id>`. Listing due entries reads
 * the names of the hours, then the hours that have begun. Later entries cost only the names of their hours.
 *
 * An entry is acknowledged once its name and its parent directories are flushed. An hour's directory is
 * trusted once it was flushed. It is therefore deleted only if it is empty and the hour ended long ago, and
 * it is not trusted after the hour.
 * @param root directory of the store.
 */
export class FsDueIndex implements DueIndex {
  readonly #root: string;
  readonly #markers: MarkerFiles;
  readonly #flush: (directory: string) => Promise<void>;
  readonly #directories: DurableDirectories;

  constructor(root: string, markers: MarkerFiles, files: FileSystem) {
    this.#root = root;
    this.#markers = markers;
    this.#flush = createSharedFlush(files);
    this.#directories = new DurableDirectories(root, this.#flush);
  }

  async addDue(list: string, entry: DueEntry, signal?: AbortSignal): Promise<void> {
    const name = dueName(entry);
    const bucket = this.#bucketOf(list, entry);
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      if (hasEndedFor(hourOf(entry), 0)) this.#directories.distrust(bucket);
      try {
        await this.#directories.make(bucket);
        this.#createFile(join(bucket, name));
        return await this.#flush(bucket);
      } catch (error) {
        if (systemCode(error) !== "ENOENT" || attempt === MAX_ATTEMPTS) throw error;
        // Another process deleted a parent directory.
        this.#directories.distrust();
      }
    }
  }

  async removeDue(list: string, entry: DueEntry): Promise<void> {
    const path = join(this.#bucketOf(list, entry), dueName(entry));
    try {
      // Not flushed: an entry that a power cut restores is processed once more, which does no harm.
      await unlink(path);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }

  async listDue(list: string, untilMs: number, limit: number): Promise<DueEntry[]> {
    checkDueQuery(untilMs, limit);
    const path = this.#directoryOf(list);
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
  }

  #directoryOf(list: string): string {
    checkDueList(list);
    return join(this.#root, "due", list);
  }

  #bucketOf(list: string, entry: DueEntry): string {
    return join(this.#directoryOf(list), bucketName(hourOf(entry)));
  }

  /** Gives an entry a name that was not flushed before. */
  #createFile(path: string): void {
    try {
      this.#markers.create(path);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
      // Its flush may have failed, and a second flush would falsely succeed. The file must never be absent in
      // between.
      this.#markers.replace(path);
    }
  }
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
