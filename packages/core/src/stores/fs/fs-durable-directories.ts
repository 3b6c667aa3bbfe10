import { existsSync, mkdirSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { LRUCache } from "lru-cache";
import { systemCode } from "./fs-errors.ts";
import type { FileSystem } from "./fs-files.ts";

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
