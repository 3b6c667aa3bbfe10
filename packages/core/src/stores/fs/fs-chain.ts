import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { mkdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ServiceError } from "../../errors.ts";
import { syncIfThere } from "./fs-durable-directories.ts";
import type { EmptyFiles } from "./fs-empty-files.ts";
import { systemCode } from "./fs-errors.ts";
import type { FileSystem } from "./fs-files.ts";
import {
  chainDirectory,
  generationPath,
  type Head,
  isStub,
  lookAt,
  type Place,
  readChain,
} from "./fs-generations.ts";
import type { SupersededIndex } from "./fs-superseded.ts";
import type { NewFile } from "./fs-write.ts";

/** The changes of chains that fs-generations.ts describes. */
export interface Chains {
  /** Makes a file the first of a chain, durably. `null`: there is a chain, or the way to it vanished. */
  create(base: string, file: NewFile): Promise<Place | null>;
  /** Gives a file the name above all that were taken when `head` was seen, durably. `null`: another writer was faster. */
  append(base: string, file: NewFile, head: Head): Promise<Place | null>;
  /** Whether there was a blob to remove. */
  remove(base: string): Promise<boolean>;
}

export interface ChainsOptions {
  /** Directory of all chains. Neither it nor what is above it is made or removed. */
  root: string;
  /** Gives this process' directory for temporary files. */
  temporary(): string;
  files: FileSystem;
  empties: EmptyFiles;
  superseded: SupersededIndex;
}

/** Of a blob that is replaced more often than this, older generations go after an hour: an owner's tally may be busy. */
const LONG_CHAIN = 100;
const LONG_CHAIN_MS = 3_600_000;
/** An older generation is not undone: the one before may have been removed since. */
const MAX_UNDO_MS = 600_000;

export function createChains({ root, temporary, files, empties, superseded }: ChainsOptions): Chains {
  const randomPath = () => join(temporary(), randomBytes(12).toString("hex"));

  /** Makes a directory and those above it. One that another process makes at the same time may vanish again. */
  async function makeDirectories(path: string): Promise<void> {
    // Its volume is gone. A directory made in its place would be hidden once it is mounted again.
    if (path === root) throw new ServiceError("store_unavailable", `The data directory is gone: no ${root}`);
    try {
      await mkdir(path, { mode: 0o700 });
    } catch (error) {
      const code = systemCode(error);
      if (code !== "EEXIST" && code !== "ENOENT") throw error;
      if (code === "ENOENT") {
        await makeDirectories(dirname(path));
        return makeDirectories(path);
      }
    }
    try {
      await syncIfThere(files, dirname(path));
    } catch (error) {
      // The next writer makes it again: it would not flush the entry of an existing directory.
      await removeEmptyDirectories(path);
      throw error;
    }
  }

  /** Up to the directories right below the root, which stay. */
  async function removeEmptyDirectories(path: string): Promise<void> {
    if (path === root || dirname(path) === root) return;
    try {
      await rmdir(path);
    } catch (error) {
      // It has blobs, or another process removed it.
      if (systemCode(error) !== undefined) return;
      throw error;
    }
    await removeEmptyDirectories(dirname(path));
  }

  async function linkFile(path: string, name: string): Promise<void> {
    try {
      await files.link(path, name);
    } catch (error) {
      const code = systemCode(error);
      // Linux says EOPNOTSUPP, which Node names ENOTSUP.
      if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw error;
      const message = "The data directory's file system has no hard links";
      throw new ServiceError("store_unavailable", message, { cause: error });
    }
  }

  /** Removes a first generation that could not be made durable: it was not acknowledged, and must not be visible. */
  async function undoCreate(base: string, first: Place): Promise<void> {
    // Deleted meanwhile, or another writer appended to it: then it must stay.
    const successor = { ...first, generation: 2 };
    if (lookAt(base, first) === undefined || lookAt(base, successor) !== undefined) return;
    await bury(base, () => Promise.resolve());
  }

  /** As {@link undoCreate}, for a later generation. The one before must still be there. */
  function undoAppend(base: string, next: Place, head: Head): void {
    const stats = lookAt(base, next);
    const successor = { ...next, generation: next.generation + 1 };
    if (stats === undefined || lookAt(base, successor) !== undefined) return;
    if (Date.now() - stats.ctimeMs > MAX_UNDO_MS || lookAt(base, head)?.ino !== head.inode) return;
    rmSync(generationPath(base, next), { force: true });
  }

  /** Whether the highest generation that was seen is still there: nothing above it was ever removed then. */
  function isTopStill(base: string, { life, top: { generation, inode } }: Head): boolean {
    const stats = lookAt(base, { life, generation });
    // In the first layout generation 1 becomes a stub when it is removed.
    return stats !== undefined && stats.ino === inode && !(generation === 1 && isStub(stats));
  }

  /** Whether nothing was ever above a generation of the chain in place. */
  function isHighest(base: string, { life, generation }: Place): boolean {
    const chain = readChain(base);
    return chain?.life === life && chain.generations[0] === generation;
  }

  async function trim(base: string, beforeMs: number, { generation }: Place): Promise<void> {
    try {
      await superseded.trim(base, beforeMs, generation);
    } catch (error) {
      // The sweep tries it again, and reports its failure.
      if (systemCode(error) === undefined) throw error;
    }
  }

  /** Moves a chain out of its place and removes it. `settle` runs in between. */
  async function bury(base: string, settle: () => Promise<void>): Promise<boolean> {
    const grave = randomPath();
    try {
      await rename(chainDirectory(base), grave);
    } catch (error) {
      if (systemCode(error) === "ENOENT") return false;
      throw error;
    }
    try {
      await settle();
    } finally {
      await rm(grave, { recursive: true, force: true, maxRetries: 3, retryDelay: 10 });
    }
    return true;
  }

  return {
    async create(base, file) {
      const made = randomPath();
      const first = { life: randomBytes(8).toString("hex"), generation: 1 };
      try {
        if (!existsSync(dirname(base))) await makeDirectories(dirname(base));
        mkdirSync(made, 0o700);
        empties.create(join(made, `${first.life}.0`));
        await linkFile(file.path, join(made, `${first.life}.1`));
        // At the same time: a disk that flushes both at once needs as long as for one.
        await Promise.all([file.flush(), files.syncDirectory(made)]);
        await rename(made, chainDirectory(base));
      } catch (error) {
        await rm(made, { recursive: true, force: true });
        // Each takes an inode of a disk that may be full of them.
        await removeEmptyDirectories(dirname(base));
        const code = systemCode(error);
        if (code === "EEXIST" || code === "ENOTEMPTY" || code === "ENOENT") return null;
        throw error;
      }
      try {
        await syncIfThere(files, dirname(base));
      } catch (error) {
        await undoCreate(base, first);
        throw error;
      }
      return first;
    },
    async append(base, file, head) {
      const next = { life: head.life, generation: head.top.generation + 1 };
      const isShortOfRoom = superseded.isShortOfRoom();
      // Before, so that nothing is superseded without a note.
      if (!isShortOfRoom) superseded.note(base);
      await file.flush();
      try {
        await linkFile(file.path, generationPath(base, next));
      } catch (error) {
        const code = systemCode(error);
        // Taken by a faster writer, or deleted with all its chain.
        if (code === "EEXIST" || code === "ENOENT") return null;
        throw error;
      }
      try {
        if (!isTopStill(base, head) && !isHighest(base, next)) {
          await rm(generationPath(base, next), { force: true });
          return null;
        }
        await syncIfThere(files, chainDirectory(base));
      } catch (error) {
        undoAppend(base, next, head);
        throw error;
      }
      if (isShortOfRoom) await trim(base, Number.POSITIVE_INFINITY, next);
      else if (next.generation % LONG_CHAIN === 0) await trim(base, Date.now() - LONG_CHAIN_MS, next);
      return next;
    },
    async remove(base) {
      if (!(await bury(base, () => syncIfThere(files, dirname(base))))) return false;
      await removeEmptyDirectories(dirname(base));
      return true;
    },
  };
}
