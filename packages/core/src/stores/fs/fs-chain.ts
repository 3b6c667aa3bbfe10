import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { mkdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PutOptions } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createDurableDirectories, createSharedFlush, syncIfThere } from "./fs-durable-directories.ts";
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

/** The operations on chains that fs-generations.ts describes. */
export interface Chains {
  /**
   * Makes a file the first generation of a new chain. `null`: a chain exists, or its parent directory vanished.
   * @param mayBeLost Whether only the bytes are made durable, not their name: a power cut leaves the whole file or none.
   */
  create(base: string, file: NewFile, mayBeLost: boolean): Promise<Place | null>;
  /**
   * Makes each file the first generation of a new chain in a new directory, all in one step. Moves the files. Rejects with
   * `conflict` if the directory exists.
   * @param directory two levels below the root.
   */
  createTogether<F extends { name: string; file: NewFile }>(
    directory: string,
    chains: readonly F[],
    signal: AbortSignal | undefined,
  ): Promise<(F & { place: Place })[]>;
  /** Adds a file as the next generation above all names seen with `head`. `null`: another writer was faster. */
  append(base: string, file: NewFile, head: Head, options: PutOptions): Promise<Place | null>;
  /** @returns whether there was a blob to delete. */
  remove(base: string): Promise<boolean>;
}

export interface ChainsOptions {
  /** Directory of all chains. Neither it nor its parents are created or deleted. */
  root: string;
  /** Returns this process's directory for temporary files. */
  temporary(): string;
  files: FileSystem;
  empties: EmptyFiles;
  superseded: SupersededIndex;
}

/** An older generation is not rolled back: the one before it may have been deleted since. */
const MAX_UNDO_MS = 600_000;

export function createChains({ root, temporary, files, empties, superseded }: ChainsOptions): Chains {
  /** Directories directly below the root, which are never deleted. */
  const shards = createDurableDirectories(root, createSharedFlush(files));

  const randomPath = () => join(temporary(), randomBytes(12).toString("hex"));
  const newPlace = (): Place => ({ life: randomBytes(8).toString("hex"), generation: 1 });

  /**
   * Creates a directory and its parents. One that another process creates at the same time may vanish again.
   */
  async function makeDirectories(path: string): Promise<void> {
    // Its volume is gone. A directory created here would be hidden once the volume is mounted again.
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
      // The next writer creates it again: an existing directory's entry would not be flushed.
      await removeEmptyDirectories(path);
      throw error;
    }
  }

  /** Stops at the directories directly below the root, which stay. */
  async function removeEmptyDirectories(path: string): Promise<void> {
    if (path === root || dirname(path) === root) return;
    try {
      await rmdir(path);
    } catch (error) {
      // It has blobs, or another process deleted it.
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
      // Linux reports EOPNOTSUPP, which Node calls ENOTSUP.
      if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw error;
      const message =
        "The data directory's file system has no hard links: move the directory to one that does";
      throw new ServiceError("store_unavailable", message, { cause: error });
    }
  }

  /**
   * Rolls back a first generation that could not be made durable: it was not acknowledged and must not be
   * visible.
   */
  async function undoCreate(base: string, first: Place): Promise<void> {
    if (isUnchanged(base, first)) await bury(chainDirectory(base));
  }

  /** If a chain was deleted, or another writer appended to it, its first generation must stay. */
  function isUnchanged(base: string, first: Place): boolean {
    return lookAt(base, first) !== undefined && lookAt(base, { ...first, generation: 2 }) === undefined;
  }

  /** Renames a complete directory into place. */
  async function moveInto(directory: string, made: string): Promise<void> {
    try {
      await rename(made, directory);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      // The shard vanished, for example because its volume was replaced.
      shards.distrust();
      await shards.make(dirname(directory));
      await rename(made, directory);
    }
  }

  /** Like {@link undoCreate}, for a later generation. The previous generation must still exist. */
  function undoAppend(base: string, next: Place, head: Head): void {
    const stats = lookAt(base, next);
    const successor = { ...next, generation: next.generation + 1 };
    if (stats === undefined || lookAt(base, successor) !== undefined) return;
    if (Date.now() - stats.ctimeMs > MAX_UNDO_MS || lookAt(base, head)?.ino !== head.inode) return;
    rmSync(generationPath(base, next), { force: true });
  }

  /** Whether the highest generation seen still exists. If so, nothing above it was ever deleted. */
  function isTopStill(base: string, { life, top: { generation, inode } }: Head): boolean {
    const stats = lookAt(base, { life, generation });
    // In the first layout, deleting generation 1 turns it into a stub.
    return stats !== undefined && stats.ino === inode && !(generation === 1 && isStub(stats));
  }

  /** Whether the chain in place never had a generation above this one. */
  function isHighest(base: string, { life, generation }: Place): boolean {
    const chain = readChain(base);
    return chain?.life === life && chain.generations[0] === generation;
  }

  /** Deletes all superseded generations. */
  async function trim(base: string, { generation }: Place): Promise<void> {
    try {
      await superseded.trim(base, Number.POSITIVE_INFINITY, generation);
    } catch (error) {
      // The sweep retries it and reports its failure.
      if (systemCode(error) === undefined) throw error;
    }
  }

  /** Renames a directory away and deletes it. `settle` runs in between. */
  async function bury(directory: string, settle = () => Promise.resolve()): Promise<boolean> {
    const grave = randomPath();
    try {
      await rename(directory, grave);
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
    async create(base, file, mayBeLost) {
      const made = randomPath();
      const first = newPlace();
      try {
        if (!existsSync(dirname(base))) await makeDirectories(dirname(base));
        mkdirSync(made, 0o700);
        empties.create(join(made, `${first.life}.0`));
        await linkFile(file.path, join(made, `${first.life}.1`));
        // In parallel: a disk that flushes both at once takes as long as for one.
        await Promise.all([file.flush(), mayBeLost ? undefined : files.syncDirectory(made)]);
        await rename(made, chainDirectory(base));
      } catch (error) {
        await rm(made, { recursive: true, force: true });
        // Each directory uses an inode, and the disk may have run out of them.
        await removeEmptyDirectories(dirname(base));
        const code = systemCode(error);
        if (code === "EEXIST" || code === "ENOTEMPTY" || code === "ENOENT") return null;
        throw error;
      }
      try {
        if (!mayBeLost) await syncIfThere(files, dirname(base));
      } catch (error) {
        await undoCreate(base, first);
        throw error;
      }
      return first;
    },
    async createTogether(directory, chains, signal) {
      const made = randomPath();
      const firsts = chains.map((chain) => ({ ...chain, place: newPlace() }));
      try {
        mkdirSync(made, 0o700);
        const directories = [made];
        for (const { name, file, place } of firsts) {
          const chain = chainDirectory(join(made, name));
          mkdirSync(chain, 0o700);
          directories.push(chain);
          empties.create(join(chain, `${place.life}.0`));
          renameSync(file.path, join(chain, `${place.life}.1`));
        }
        // In parallel, as for one chain.
        await Promise.all([
          shards.make(dirname(directory)),
          ...firsts.map(({ file }) => file.flush()),
          ...directories.map((path) => files.syncDirectory(path)),
        ]);
        signal?.throwIfAborted();
        await moveInto(directory, made);
      } catch (error) {
        await rm(made, { recursive: true, force: true });
        const code = systemCode(error);
        if (code !== "EEXIST" && code !== "ENOTEMPTY") throw error;
        throw new ServiceError("conflict", "There are blobs below the prefix already");
      }
      try {
        await files.syncDirectory(dirname(directory));
      } catch (error) {
        // Not acknowledged, as for one chain.
        const isOurs = firsts.every(({ name, place }) => isUnchanged(join(directory, name), place));
        if (isOurs) await bury(directory);
        throw error;
      }
      return firsts;
    },
    async append(base, file, head, { mayBeLost = false, withoutHistory = false }) {
      const next = { life: head.life, generation: head.top.generation + 1 };
      const keepsHistory = !withoutHistory && !superseded.isShortOfRoom();
      // Noted before the link, so that every superseded generation has a note.
      if (keepsHistory) superseded.note(base);
      await file.flush();
      try {
        await linkFile(file.path, generationPath(base, next));
      } catch (error) {
        const code = systemCode(error);
        // A faster writer took the name, or the whole chain was deleted.
        if (code === "EEXIST" || code === "ENOENT") return null;
        throw error;
      }
      try {
        if (!isTopStill(base, head) && !isHighest(base, next)) {
          await rm(generationPath(base, next), { force: true });
          return null;
        }
        if (!mayBeLost) await syncIfThere(files, chainDirectory(base));
      } catch (error) {
        undoAppend(base, next, head);
        throw error;
      }
      if (!keepsHistory) await trim(base, next);
      return next;
    },
    async remove(base) {
      if (!(await bury(chainDirectory(base), () => syncIfThere(files, dirname(base))))) return false;
      await removeEmptyDirectories(dirname(base));
      return true;
    },
  };
}
