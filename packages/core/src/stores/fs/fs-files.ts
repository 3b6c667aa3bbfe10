import {
  closeSync,
  existsSync,
  fsync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { link, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { LRUCache } from "lru-cache";
import { isServiceError, ServiceError, systemCode } from "../../errors.ts";

export { systemCode } from "../../errors.ts";

const flush = promisify(fsync);

/** The calls on which durability and atomicity depend. A test can make each of them fail. */
export interface FileSystem {
  /** Flushes the bytes and the size of an open file to the disk. */
  sync(descriptor: number): Promise<void>;
  /** Flushes a directory's entries to the disk. */
  syncDirectory(path: string): Promise<void>;
  /** Adds a second name to a file; fails with EEXIST if that name exists. */
  link(from: string, to: string): Promise<void>;
}

export const nodeFiles: FileSystem = {
  sync: flush,
  async syncDirectory(path) {
    // Only the flush waits for the disk; for the other calls a hop to the thread pool costs more than the
    // call.
    const directory = openSync(path, "r");
    try {
      await flush(directory);
    } finally {
      closeSync(directory);
    }
  },
  link,
};

/** Mode of a blob's file: its owner may read and write it. */
export const BLOB_MODE = 0o600;
/** Mode of the file of an empty blob. The execute bit distinguishes it from a file that lost its bytes. */
export const EMPTY_BLOB_MODE = 0o700;
/** Mode of files that stay empty. */
const MARKER_MODE = 0o400;

const NO_SPACE = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
/** Instructions for the errors about too many open files. */
const OPEN_FILES = new Map([
  [
    "EMFILE",
    "The process has reached its limit of open files (EMFILE): raise it (ulimit -n, or LimitNOFILE of systemd)",
  ],
  ["ENFILE", "The machine has reached its limit of open files (ENFILE): raise it (sysctl fs.file-max)"],
]);

/** Maps a driver error to the store's error. Errors that are not from the file system pass unchanged. */
export function storeError(error: unknown): unknown {
  if (isServiceError(error)) return error;
  const code = systemCode(error);
  // An object, since it has a code.
  if (code === undefined || !("syscall" in (error as object))) return error;
  if (NO_SPACE.has(code)) return new ServiceError("no_space", "The disk is full", { cause: error });
  const limit = OPEN_FILES.get(code);
  if (limit !== undefined) return new ServiceError("store_unavailable", limit, { cause: error });
  return new ServiceError("store_unavailable", `The data directory cannot be used (${code})`, {
    cause: error,
  });
}

/** Runs file system work and maps its errors. */
export async function mapped<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeError(error);
  }
}

/** Maximum number of directories cached as flushed. */
const MAX_TRUSTED = 10_000;

/**
 * Directories whose names must be flushed before a write to them is acknowledged. An existing directory may come from a process
 * that has not flushed its name yet. Each process therefore flushes it once and caches that.
 */
export class DurableDirectories {
  readonly #root: string;
  readonly #flush: (directory: string) => Promise<void>;
  readonly #trusted = new LRUCache<string, true>({ max: MAX_TRUSTED });

  /**
   * @param root existing directory; nothing above it is created.
   * @param flush Flushes the entries of a directory.
   */
  constructor(root: string, flush: (directory: string) => Promise<void>) {
    this.#root = root;
    this.#flush = flush;
  }

  /** Creates a directory and its parents, durably. */
  async make(path: string): Promise<void> {
    if (path === this.#root || this.#trusted.has(path)) return;
    await this.make(dirname(path));
    makeDirectory(path);
    try {
      await this.#flush(dirname(path));
    } catch (error) {
      // The next write creates it again: after a failed flush, a second one may succeed without writing.
      await removeIfEmpty(path);
      throw error;
    }
    this.#trusted.set(path, true);
  }

  /** Notes that a directory (without `path`: any directory) may have been deleted and created again. */
  distrust(path?: string): void {
    if (path === undefined) this.#trusted.clear();
    else this.#trusted.delete(path);
  }
}

/**
 * Creates a directory and its parents, accessible to this user only. Not with `recursive`: if the kernel
 * rejects a directory with ENOENT, as in /proc, Node 20 never returns.
 */
export function makeDirectories(path: string): void {
  try {
    makeDirectory(path);
  } catch (error) {
    const above = dirname(path);
    if (systemCode(error) !== "ENOENT" || existsSync(above)) throw error;
    makeDirectories(above);
    makeDirectory(path);
  }
}

/** Deletes a directory if it is empty. */
export async function removeIfEmpty(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    // It is in use, or another process deleted it.
    if (systemCode(error) === undefined) throw error;
  }
}

/** Creates a directory, accessible to this user only, unless it exists. */
export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

/**
 * Flushes the entries of directories; calls during a flush share the next one. A disk performs some hundreds
 * of flushes per second, however many entries each covers.
 * @returns a function that flushes all entries that the directory had at the call.
 */
export function createSharedFlush(files: FileSystem): (directory: string) => Promise<void> {
  /** Flushes that have not begun yet, so they cover all present entries. */
  const coming = new Map<string, Promise<void>>();
  const underWay = new Map<string, Promise<void>>();

  async function flushAfterOthers(directory: string): Promise<void> {
    // The callers of that flush receive its failure.
    await underWay.get(directory)?.catch(() => undefined);
    const flush = syncIfThere(files, directory);
    coming.delete(directory);
    underWay.set(directory, flush);
    try {
      await flush;
    } finally {
      underWay.delete(directory);
    }
  }

  return (directory) => {
    const known = coming.get(directory);
    if (known !== undefined) return known;
    const flush = flushAfterOthers(directory);
    coming.set(directory, flush);
    return flush;
  };
}

/** Flushes the entries of a directory. A directory that was deleted meanwhile has none. */
export async function syncIfThere(files: FileSystem, path: string): Promise<void> {
  try {
    await files.syncDirectory(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}

/** File systems allow at least 65,000 links. A lower limit lets a copy on another file system keep them. */
const MAX_LINKS = 10_000;
/** A process checks the number of links once per this many links. */
const LINKS_PER_CHECK = 500;
/** Two, because renaming a link over a link of the same inode does nothing. */
const SHARED = ["0", "1"] as const;

/**
 * Creates zero-length markers that share a few inodes: each name is a hard link of `empty/0` or `empty/1` in the store's directory.
 * A shared file with the maximum number of links is replaced; its links keep the old inode. If a file cannot be linked, e.g.
 * because another user owns it, the name gets its own inode.
 */
export class MarkerFiles {
  readonly #directory: string;
  readonly #newPath: () => string;
  readonly #link: typeof linkSync;
  #links = 0;

  /**
   * @param root directory of the store.
   * @param newPath returns a new path for a temporary file.
   * @param link replaced in tests to inject faults.
   */
  constructor(root: string, newPath: () => string, link = linkSync) {
    this.#directory = join(root, "empty");
    this.#newPath = newPath;
    this.#link = link;
  }

  /**
   * Creates a marker. Throws EEXIST if the name exists, ENOENT if its directory does not.
   * @param name The shared file that it links.
   */
  create(path: string, name: (typeof SHARED)[number] = SHARED[0]): void {
    const shared = join(this.#directory, name);
    if (this.#links++ % LINKS_PER_CHECK === 0 && existsSync(shared) && statSync(shared).nlink >= MAX_LINKS) {
      this.#renew(shared);
    }
    try {
      this.#link(shared, path);
      return;
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined || code === "EEXIST" || (code === "ENOENT" && existsSync(shared))) throw error;
    }
    try {
      this.#renew(shared);
      this.#link(shared, path);
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined || code === "EEXIST" || code === "ENOENT") throw error;
      createAlone(path);
    }
  }

  /** Replaces the file at `path` by a marker with another inode, atomically. */
  replace(path: string): void {
    for (const name of SHARED) {
      const made = this.#newPath();
      try {
        this.create(made, name);
        renameSync(made, path);
        // Both names were links of one file, so the rename did nothing.
        if (existsSync(made)) continue;
        return;
      } finally {
        rmSync(made, { force: true });
      }
    }
  }

  /** Replaces a shared file, or creates it. */
  #renew(shared: string): void {
    const made = this.#newPath();
    try {
      createAlone(made);
      if (!existsSync(this.#directory)) mkdirSync(this.#directory, { mode: 0o700 });
      renameSync(made, shared);
    } finally {
      rmSync(made, { force: true });
    }
  }
}

function createAlone(path: string): void {
  const descriptor = openSync(path, "wx", MARKER_MODE);
  try {
    // Makes every link as durable as the directory that it is in.
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
