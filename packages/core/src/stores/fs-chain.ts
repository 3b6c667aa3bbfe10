import { randomBytes } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, symlinkSync } from "node:fs";
import { mkdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ServiceError } from "../errors.ts";
import { systemCode } from "./fs-errors.ts";
import type { FileSystem } from "./fs-files.ts";
import {
  chainDirectory,
  generationPath,
  LIFE_LINK,
  lifeOf,
  type Place,
  revisionOf,
  successorOf,
} from "./fs-generations.ts";
import type { NewFile } from "./fs-write.ts";

/** The changes of chains that fs-generations.ts describes. */
export interface Chains {
  /** Makes a file the first of a chain, durably. `null`: there is a chain, or the way to it vanished. */
  create(base: string, file: NewFile): Promise<Place | null>;
  /** Gives a file the name behind `head`, durably. `null`: somebody was faster. */
  append(base: string, file: NewFile, head: Place): Promise<Place | null>;
  /** Whether there was a blob to remove. */
  remove(base: string): Promise<boolean>;
}

/** @param root directory above which nothing is made or removed. */
export function createChains(root: string, temporary: string, files: FileSystem): Chains {
  const randomPath = () => join(temporary, randomBytes(12).toString("hex"));

  /** Makes a directory and those above it. One that another process makes at the same time may vanish again. */
  async function makeDirectories(path: string): Promise<void> {
    try {
      await mkdir(path, { mode: 0o700 });
    } catch (error) {
      const code = systemCode(error);
      if (code !== "EEXIST" && (code !== "ENOENT" || path === root)) throw error;
      if (code === "ENOENT") {
        await makeDirectories(dirname(path));
        return makeDirectories(path);
      }
    }
    try {
      await syncWhatIsThere(dirname(path));
    } catch (error) {
      // The next writer has to make it again, since it would not flush the entry of a directory that it finds.
      await removeEmptyDirectories(path);
      throw error;
    }
  }

  /** Flushes a directory's entries. One that was removed meanwhile has none. */
  async function syncWhatIsThere(path: string): Promise<void> {
    try {
      await files.syncDirectory(path);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }

  /** Up to the directories right below the root, which stay. */
  async function removeEmptyDirectories(path: string): Promise<void> {
    if (path === root || dirname(path) === root) return;
    try {
      await rmdir(path);
    } catch (error) {
      // Somebody's blobs are in it, or somebody else removed it.
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

  /** Gives the bytes of a superseded blob back and keeps its name taken. */
  async function replaceByStub(base: string, superseded: Place): Promise<void> {
    const stub = randomPath();
    try {
      closeSync(openSync(stub, "wx", 0o400));
      await rename(stub, generationPath(base, superseded));
    } catch (error) {
      await rm(stub, { force: true });
      // The new blob is in force either way; only the old one's room is not given back before the chain is deleted.
      if (systemCode(error) === undefined) throw error;
    }
  }

  /** Takes back what could not be made durable: it was not acknowledged, and is not to be seen. */
  async function withdraw(base: string, place: Place): Promise<void> {
    const path = generationPath(base, place);
    // Deleted meanwhile, or somebody built upon it: then it cannot be taken back.
    if (!existsSync(path) || existsSync(generationPath(base, successorOf(place)))) return;
    if (place.generation > 1) await rm(path, { force: true });
    else await bury(base, () => Promise.resolve());
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
        symlinkSync(revisionOf(first), join(made, LIFE_LINK));
        await linkFile(file.path, join(made, revisionOf(first)));
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
        await syncWhatIsThere(dirname(base));
      } catch (error) {
        await withdraw(base, first);
        throw error;
      }
      return first;
    },
    async append(base, file, head) {
      const next = successorOf(head);
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
        // Deleted, and perhaps made anew, between the look and the link.
        if (lifeOf(base) !== head.life) {
          await rm(generationPath(base, next), { force: true });
          return null;
        }
        await syncWhatIsThere(chainDirectory(base));
      } catch (error) {
        await withdraw(base, next);
        throw error;
      }
      await replaceByStub(base, head);
      return next;
    },
    async remove(base) {
      if (!(await bury(base, () => syncWhatIsThere(dirname(base))))) return false;
      await removeEmptyDirectories(dirname(base));
      return true;
    },
  };
}
