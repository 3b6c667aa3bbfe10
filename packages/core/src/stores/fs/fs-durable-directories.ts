import { existsSync, mkdirSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { LRUCache } from "lru-cache";
import { systemCode } from "./fs-errors.ts";
import type { FileSystem } from "./fs-files.ts";

/** Directories whose names are flushed before a write to them is acknowledged. */
export interface DurableDirectories {
  /** Makes a directory and those above it, durably. */
  make(path: string): Promise<void>;
  /** Notes that a directory, or any without `path`, may have been removed and made again. */
  distrust(path?: string): void;
}

/** Directories that are cached as flushed. */
const MAX_TRUSTED = 10_000;

/**
 * An existing directory may have been made by a process that has not flushed its name yet. So each process flushes it once,
 * and caches that.
 * @param root Exists; nothing is made above it.
 * @param flush Flushes the entries of a directory.
 */
export function createDurableDirectories(
  root: string,
  flush: (directory: string) => Promise<void>,
): DurableDirectories {
  const trusted = new LRUCache<string, true>({ max: MAX_TRUSTED });

  async function make(path: string): Promise<void> {
    if (path === root || trusted.has(path)) return;
    await make(dirname(path));
    makeDirectory(path);
    try {
      await flush(dirname(path));
    } catch (error) {
      // The next write makes it again: after a failed flush, a second one may succeed without writing.
      await removeIfEmpty(path);
      throw error;
    }
    trusted.set(path, true);
  }

  return {
    make,
    distrust(path) {
      if (path === undefined) trusted.clear();
      else trusted.delete(path);
    },
  };
}

/**
 * Makes a directory and those above it, for this user alone. Not by `recursive`: if the kernel refuses a directory with
 * ENOENT, as in /proc, Node 20 never returns.
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

/** Removes a directory, unless something is in it. */
export async function removeIfEmpty(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    // It is in use, or another process removed it.
    if (systemCode(error) === undefined) throw error;
  }
}

/** Makes a directory for this user alone, unless it is there. */
export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

/**
 * Flushes the entries of directories; calls during a flush share the next one. A disk makes some hundreds of flushes a
 * second, however many entries each covers.
 * @returns flushes all entries that the directory had at the call.
 */
export function createSharedFlush(files: FileSystem): (directory: string) => Promise<void> {
  /** Flushes that have not begun, so they cover all present entries. */
  const coming = new Map<string, Promise<void>>();
  const underWay = new Map<string, Promise<void>>();

  async function flushAfterOthers(directory: string): Promise<void> {
    // Its own callers have its failure.
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

/** Flushes the entries of a directory. A directory that was removed meanwhile has none. */
export async function syncIfThere(files: FileSystem, path: string): Promise<void> {
  try {
    await files.syncDirectory(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}
