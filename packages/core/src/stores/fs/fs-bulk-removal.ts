import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { rename, rm, rmdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createSharedFlush } from "./fs-durable-directories.ts";
import { systemCode } from "./fs-errors.ts";
import type { FileSystem } from "./fs-files.ts";
import { chainDirectory } from "./fs-generations.ts";

/**
 * Deletes whole chains, and directories of chains, of one directory. It renames them all away, makes that
 * durable with one flush, then deletes the files. A crash in between leaves them among the temporary files of
 * a dead process.
 *
 * The flush is that of the directory into which the names moved. A rename is one transaction of the file
 * system's journal, so it becomes durable for both directories at once. Simultaneous removals of a process
 * share one flush.
 * @param root directory above which nothing is deleted.
 * @param temporary returns this process's temporary directory, on the same volume.
 */
export function createFsBulkRemoval(root: string, temporary: () => string, files: FileSystem) {
  const flush = createSharedFlush(files);

  /** Moves the entries with these names out of a directory, and adds their new paths to `graves`. */
  async function moveAway(directory: string, names: readonly string[], graves: string[]): Promise<void> {
    const found = namesIn(directory);
    for (const name of names.flatMap((each) => [chainDirectory(each), each])) {
      // A failed rename costs more than this lookup.
      if (!found.has(name)) continue;
      const grave = join(temporary(), randomBytes(12).toString("hex"));
      try {
        await rename(join(directory, name), grave);
        graves.push(grave);
      } catch (error) {
        // Another process deleted it after its name was read.
        if (systemCode(error) !== "ENOENT") throw error;
      }
    }
  }

  /** Deletes a directory and its parents while they are empty; those directly below the root stay. */
  async function removeEmpty(directory: string): Promise<void> {
    if (dirname(directory) === root) return;
    try {
      await rmdir(directory);
    } catch (error) {
      // It holds other blobs, or another process deleted it.
      if (systemCode(error) !== undefined) return;
      throw error;
    }
    await removeEmpty(dirname(directory));
  }

  return async (directory: string, names: readonly string[]): Promise<void> => {
    const graves: string[] = [];
    try {
      await moveAway(directory, names, graves);
      const [grave] = graves;
      if (grave === undefined) return;
      await flush(dirname(grave));
    } finally {
      for (const grave of graves) await removeTree(grave);
    }
    await removeEmpty(directory);
  };
}

/** Names in a directory; empty if it does not exist. */
function namesIn(directory: string): Set<string> {
  try {
    return new Set(readdirSync(directory));
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    return new Set();
  }
}

/**
 * Like `rm`, with a third of its system calls: the sweep spends most of its time here. Asynchronous, because
 * a removal may block while the journal of a busy disk is written.
 */
async function removeTree(directory: string): Promise<void> {
  try {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) await removeTree(path);
      else await unlink(path);
    }
    await rmdir(directory);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    // A slow writer has just added a file.
    await rm(directory, { recursive: true, force: true, maxRetries: 3, retryDelay: 10 });
  }
}
