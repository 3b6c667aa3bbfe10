import { randomBytes } from "node:crypto";
import { closeSync, lstatSync, openSync } from "node:fs";
import { mkdir, rename, rm, rmdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ServiceError } from "../errors.ts";
import { systemCode } from "./fs-errors.ts";
import type { FileSystem } from "./fs-files.ts";
import {
  findHead,
  generationPath,
  type Head,
  hasRemains,
  headOf,
  isStillThere,
  lastTaken,
} from "./fs-generations.ts";

/** The changes of chains that fs-generations.ts describes. */
export interface Chains {
  /** Gives a flushed file the name behind `head`, durably. `null`: somebody was faster, or the way had to be made first. */
  append(base: string, path: string, head: Head | null): Promise<Head | null>;
  /** Gives the bytes of a superseded blob back and keeps its name taken. */
  replaceByStub(base: string, generation: number): Promise<void>;
  /** Whether there was a blob to remove. */
  remove(base: string): Promise<boolean>;
}

/** @param root directory above which nothing is made or removed. */
export function createChains(root: string, temporary: string, files: FileSystem): Chains {
  const randomPath = () => join(temporary, randomBytes(12).toString("hex"));

  async function makeDirectories(path: string): Promise<void> {
    try {
      await mkdir(path, { mode: 0o700 });
    } catch (error) {
      if (systemCode(error) === "EEXIST") return;
      if (systemCode(error) !== "ENOENT" || path === root) throw error;
      await makeDirectories(dirname(path));
      return makeDirectories(path);
    }
    await files.syncDirectory(dirname(path));
  }

  /** Up to the directories right below the root, which stay. */
  async function removeEmptyDirectories(path: string): Promise<void> {
    if (dirname(path) === root || path === root) return;
    try {
      await rmdir(path);
    } catch (error) {
      // Somebody's blobs are in it, or somebody else removed it.
      if (systemCode(error) !== undefined) return;
      throw error;
    }
    await removeEmptyDirectories(dirname(path));
  }

  /** Removes the files behind the first, the last first, so that what a crash leaves has no gap. */
  async function removeFollowers(base: string): Promise<void> {
    for (let last = lastTaken(base); last > 1; last--) await rm(generationPath(base, last), { force: true });
  }

  return {
    async append(base, path, head) {
      if (head === null && hasRemains(base)) await removeFollowers(base);
      const generation = (head?.generation ?? 0) + 1;
      const name = generationPath(base, generation);
      try {
        await files.link(path, name);
      } catch (error) {
        const code = systemCode(error);
        if (code === "EEXIST") return null;
        if (code === "ENOENT") {
          await makeDirectories(dirname(base));
          return null;
        }
        if (code !== "EPERM" && code !== "EOPNOTSUPP") throw error;
        const message = "The data directory's file system has no hard links";
        throw new ServiceError("store_unavailable", message, { cause: error });
      }
      try {
        if (head !== null && !isStillThere(base, head)) {
          await rm(name, { force: true });
          return null;
        }
        await files.syncDirectory(dirname(base));
        return headOf(generation, lstatSync(path, { bigint: true }));
      } catch (error) {
        // Not durable, so not acknowledged, so not to be seen.
        await rm(name, { force: true });
        throw error;
      }
    },
    async replaceByStub(base, generation) {
      const stub = randomPath();
      try {
        closeSync(openSync(stub, "wx", 0o400));
        await rename(stub, generationPath(base, generation));
      } catch (error) {
        await rm(stub, { force: true });
        // The new blob is in force either way; only the old one's room is not given back.
        if (systemCode(error) === undefined) throw error;
      }
    },
    async remove(base) {
      if (findHead(base) === null) return false;
      try {
        await unlink(generationPath(base, 1));
      } catch (error) {
        if (systemCode(error) === "ENOENT") return false;
        throw error;
      }
      await files.syncDirectory(dirname(base));
      await removeFollowers(base);
      await removeEmptyDirectories(dirname(base));
      return true;
    },
  };
}
