import { existsSync, mkdirSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { LRUCache } from "lru-cache";
import { systemCode } from "./fs-errors.ts";
import type { FileSystem } from "./fs-files.ts";

/** Directories whose names are flushed before anything in them is acknowledged. */
export interface DurableDirectories {
  /** Makes a directory and those above it, durably. */
  make(path: string): Promise<void>;
  /** Says that a directory, or any where none is named, may have been removed and made again. */
  distrust(path?: string): void;
}

/** How many are remembered as flushed. */
const MAX_TRUSTED = 10_000;

/**
 * A directory that is there may have been made by a process that has not flushed its name yet: so each process does that
 * once, and remembers.
 * @param root is there; nothing is made above it.
 * @param flush flushes the entries of a directory.
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
      // Whoever needs it next makes it anew: a failed flush that is tried again would lie.
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
 * Makes a directory and those above it, for this user alone. Not by `recursive`: where the kernel refuses a directory with
 * ENOENT, as in /proc, Node 20 then tries for ever.
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
    // It is in use, or somebody else removed it.
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
 * Flushes directories' entries, one flush for all who ask while another is under way: a disk makes some hundreds a second,
 * however many entries each covers. A directory that was removed meanwhile has none.
 * @returns flushes what was in a directory when it was called.
 */
export function createSharedFlush(files: FileSystem): (directory: string) => Promise<void> {
  /** Not begun, so that they cover whatever is there by now. */
  const coming = new Map<string, Promise<void>>();
  const underWay = new Map<string, Promise<void>>();

  async function flushAfterOthers(directory: string): Promise<void> {
    // Whoever waits for that one is told of its failure; this one is another.
    await underWay.get(directory)?.catch(() => undefined);
    const flush = syncWhatIsThere(files, directory);
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

async function syncWhatIsThere(files: FileSystem, path: string): Promise<void> {
  try {
    await files.syncDirectory(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}
