import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { rename, rm, rmdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createSharedFlush } from "./fs-durable-directories.ts";
import { systemCode } from "./fs-errors.ts";
import type { FileSystem } from "./fs-files.ts";
import { chainDirectory } from "./fs-generations.ts";

/**
 * Removes whole chains, and directories with chains, of one directory: all are renamed away, then one flush makes that
 * durable, then the files go. A crash in between leaves them among the temporary files of a dead process.
 *
 * The flush is that of the directory which the names came into. A rename is one transaction of the file system's journal, so
 * that it is durable for both directories at once; and all removals of a process at a time share one flush.
 * @param root directory above which nothing is removed.
 * @param temporary gives the directory of this process, on the same volume.
 */
export function createFsBulkRemoval(root: string, temporary: () => string, files: FileSystem) {
  const flush = createSharedFlush(files);

  /** Moves out of a directory what belongs to the names, and adds the new paths to `graves`. */
  async function moveAway(directory: string, names: readonly string[], graves: string[]): Promise<void> {
    const found = namesIn(directory);
    for (const name of names.flatMap((each) => [chainDirectory(each), each])) {
      // A rename that fails costs more than the look.
      if (!found.has(name)) continue;
      const grave = join(temporary(), randomBytes(12).toString("hex"));
      try {
        await rename(join(directory, name), grave);
        graves.push(grave);
      } catch (error) {
        // Another process removed it since its name was read.
        if (systemCode(error) !== "ENOENT") throw error;
      }
    }
  }

  /** Removes a directory and those above it where they are empty; those right below the root stay. */
  async function removeEmpty(directory: string): Promise<void> {
    if (dirname(directory) === root) return;
    try {
      await rmdir(directory);
    } catch (error) {
      // It holds other blobs, or another process removed it.
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

/** Names in a directory; none where it is absent. */
function namesIn(directory: string): Set<string> {
  try {
    return new Set(readdirSync(directory));
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    return new Set();
  }
}

/**
 * As `rm` does, with a third of its system calls: the sweep spends most of its time here. Not synchronous: while the journal
 * of a busy disk is written, a removal may take long.
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
    // A slow writer has just put a file into it.
    await rm(directory, { recursive: true, force: true, maxRetries: 3, retryDelay: 10 });
  }
}
