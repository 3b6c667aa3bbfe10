import { readdirSync } from "node:fs";
import { rename, rm, rmdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createSharedFlush, type FileSystem, systemCode } from "./fs-files.ts";
import { chainDirectory } from "./fs-generations.ts";
import type { TemporaryDirectory } from "./fs-temporary.ts";

/**
 * Deletes chains and directories of chains: renames them away, makes that durable, then deletes the files. A crash in
 * between leaves them among the temporary files of a dead process.
 */
export class ChainRemoval {
  readonly #root: string;
  readonly #temporary: TemporaryDirectory;
  readonly #flush: (directory: string) => Promise<void>;

  /**
   * @param root Directory above which nothing is deleted. The directories directly below it stay.
   * @param temporary On the same volume.
   */
  constructor(root: string, temporary: TemporaryDirectory, files: FileSystem) {
    this.#root = root;
    this.#temporary = temporary;
    this.#flush = createSharedFlush(files);
  }

  /** @param settle Makes the removal durable, before the files are deleted. @returns whether the directory existed. */
  async remove(directory: string, settle = () => Promise.resolve()): Promise<boolean> {
    const path = await this.#moveAway(directory);
    if (path === null) return false;
    try {
      await settle();
    } finally {
      await removeTree(path);
    }
    return true;
  }

  /**
   * Deletes the chains with these names in a directory, and the directories of chains. One flush makes it durable: that of the
   * directory into which the names moved. A rename is one transaction of the file system's journal, so it becomes durable for
   * both directories at once. Simultaneous removals of a process share one flush.
   */
  async removeNamed(directory: string, names: readonly string[]): Promise<void> {
    const moved: string[] = [];
    try {
      const found = namesIn(directory);
      for (const name of names.flatMap((each) => [chainDirectory(each), each])) {
        // A failed rename costs more than this check.
        const path = found.has(name) ? await this.#moveAway(join(directory, name)) : null;
        if (path !== null) moved.push(path);
      }
      const [path] = moved;
      if (path === undefined) return;
      await this.#flush(dirname(path));
    } finally {
      for (const path of moved) await removeTree(path);
    }
    await this.removeEmpty(directory);
  }

  /** Deletes a directory and its parents while they are empty. */
  async removeEmpty(directory: string): Promise<void> {
    if (directory === this.#root || dirname(directory) === this.#root) return;
    try {
      await rmdir(directory);
    } catch (error) {
      // It holds blobs, or another process deleted it.
      if (systemCode(error) !== undefined) return;
      throw error;
    }
    await this.removeEmpty(dirname(directory));
  }

  /** @returns the new path; `null`: there is no such directory. */
  async #moveAway(directory: string): Promise<string | null> {
    const path = this.#temporary.newPath();
    try {
      await rename(directory, path);
      return path;
    } catch (error) {
      // Another process deleted it.
      if (systemCode(error) === "ENOENT") return null;
      throw error;
    }
  }
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
