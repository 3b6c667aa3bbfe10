import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PutOptions } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import type { NewFile } from "./fs-bytes.ts";
import {
  createSharedFlush,
  DurableDirectories,
  type FileSystem,
  type MarkerFiles,
  syncIfThere,
  systemCode,
} from "./fs-files.ts";
import {
  chainDirectory,
  generationPath,
  type Head,
  readChain,
  statVersion,
  type Version,
} from "./fs-generations.ts";
import type { ChainRemoval } from "./fs-removal.ts";
import type { SupersededIndex } from "./fs-superseded.ts";
import type { TemporaryDirectory } from "./fs-temporary.ts";

export interface ChainsOptions {
  /** Directory of all chains. Neither it nor its parents are created or deleted. */
  root: string;
  files: FileSystem;
  markers: MarkerFiles;
  temporary: TemporaryDirectory;
  removal: ChainRemoval;
  superseded: SupersededIndex;
}

/** An older generation is not rolled back: the one before it may have been deleted since. */
const MAX_UNDO_MS = 600_000;

/** The operations on chains that fs-generations.ts describes. */
export class Chains {
  readonly #options: ChainsOptions;
  /** Directories directly below the root, which are never deleted. */
  readonly #shards: DurableDirectories;

  constructor(options: ChainsOptions) {
    this.#options = options;
    this.#shards = new DurableDirectories(options.root, createSharedFlush(options.files));
  }

  /**
   * Makes a file the first generation of a new chain. `null`: a chain exists, or its parent directory vanished.
   * @param mayBeLost Whether only the bytes are made durable, not their name: a power cut leaves the whole file or none.
   */
  async create(base: string, file: NewFile, mayBeLost: boolean): Promise<Version | null> {
    const { files, temporary, removal } = this.#options;
    const parent = dirname(base);
    const made = temporary.newPath();
    const first = newVersion();
    try {
      if (!existsSync(parent)) await this.#makeDirectories(parent);
      this.#makeAnchored(made, first);
      await linkFile(files, file.path, join(made, `${first.chainId}.1`));
      // In parallel: a disk that flushes both at once takes as long as for one.
      await Promise.all([file.flush(), mayBeLost ? undefined : files.syncDirectory(made)]);
      await rename(made, chainDirectory(base));
    } catch (error) {
      await rm(made, { recursive: true, force: true });
      // Each directory uses an inode, and the disk may have run out of them.
      await removal.removeEmpty(parent);
      if (isTaken(error) || systemCode(error) === "ENOENT") return null;
      throw error;
    }
    try {
      if (!mayBeLost) await syncIfThere(files, parent);
    } catch (error) {
      // Not acknowledged, so it must not be visible.
      if (isUnchanged(base, first)) await removal.remove(chainDirectory(base));
      throw error;
    }
    return first;
  }

  /**
   * Makes each file the first generation of a new chain in a new directory, all in one step. Moves the files. Rejects with
   * `conflict` if the directory exists.
   * @param directory two levels below the root.
   */
  async createTogether<F extends { name: string; file: NewFile }>(
    directory: string,
    chains: readonly F[],
    signal: AbortSignal | undefined,
  ): Promise<(F & { version: Version })[]> {
    const { files, temporary, removal } = this.#options;
    const shard = dirname(directory);
    const made = temporary.newPath();
    const firsts = chains.map((chain) => ({ ...chain, version: newVersion() }));
    try {
      mkdirSync(made, 0o700);
      const directories = [made];
      for (const { name, file, version } of firsts) {
        const chain = chainDirectory(join(made, name));
        this.#makeAnchored(chain, version);
        directories.push(chain);
        renameSync(file.path, join(chain, `${version.chainId}.1`));
      }
      // In parallel, as for one chain.
      await Promise.all([
        this.#shards.make(shard),
        ...firsts.map(({ file }) => file.flush()),
        ...directories.map((path) => files.syncDirectory(path)),
      ]);
      signal?.throwIfAborted();
      await this.#moveInto(directory, made);
    } catch (error) {
      await rm(made, { recursive: true, force: true });
      if (isTaken(error)) throw new ServiceError("conflict", "There are blobs below the prefix already");
      throw error;
    }
    try {
      await files.syncDirectory(shard);
    } catch (error) {
      // Not acknowledged, as for one chain.
      const isOurs = firsts.every(({ name, version }) => isUnchanged(join(directory, name), version));
      if (isOurs) await removal.remove(directory);
      throw error;
    }
    return firsts;
  }

  /** Adds a file as the next generation above all names seen with `head`. `null`: another writer was faster. */
  async append(base: string, file: NewFile, head: Head, options: PutOptions): Promise<Version | null> {
    const { mayBeLost = false, withoutHistory = false } = options;
    const { files, superseded } = this.#options;
    const next = { chainId: head.chainId, generation: head.top.generation + 1 };
    const keepsHistory = !withoutHistory && !superseded.isShortOfRoom();
    // Noted before the link, so that every superseded generation has a note.
    if (keepsHistory) superseded.note(base);
    await file.flush();
    try {
      await linkFile(files, file.path, generationPath(base, next));
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
    if (!keepsHistory) await this.#trim(base, next);
    return next;
  }

  /** @returns whether there was a blob to delete. */
  async remove(base: string): Promise<boolean> {
    const { files, removal } = this.#options;
    const parent = dirname(base);
    if (!(await removal.remove(chainDirectory(base), () => syncIfThere(files, parent)))) return false;
    await removal.removeEmpty(parent);
    return true;
  }

  /** Creates the directory of a chain, with its anchor. */
  #makeAnchored(directory: string, { chainId }: Version): void {
    mkdirSync(directory, 0o700);
    this.#options.markers.create(join(directory, `${chainId}.0`));
  }

  /**
   * Creates a directory and its parents. One that another process creates at the same time may vanish again.
   */
  async #makeDirectories(path: string): Promise<void> {
    const { root, files, removal } = this.#options;
    // Its volume is gone. A directory created here would be hidden once the volume is mounted again.
    if (path === root) throw new ServiceError("store_unavailable", `The data directory is gone: no ${root}`);
    try {
      await mkdir(path, { mode: 0o700 });
    } catch (error) {
      const code = systemCode(error);
      if (code !== "EEXIST" && code !== "ENOENT") throw error;
      if (code === "ENOENT") {
        await this.#makeDirectories(dirname(path));
        return this.#makeDirectories(path);
      }
    }
    try {
      await syncIfThere(files, dirname(path));
    } catch (error) {
      // The next writer creates it again: an existing directory's entry would not be flushed.
      await removal.removeEmpty(path);
      throw error;
    }
  }

  /** Renames a complete directory to its final path. */
  async #moveInto(directory: string, made: string): Promise<void> {
    try {
      await rename(made, directory);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      // The shard vanished, for example because its volume was replaced.
      this.#shards.distrust();
      await this.#shards.make(dirname(directory));
      await rename(made, directory);
    }
  }

  /** Deletes all superseded generations. */
  async #trim(base: string, { generation }: Version): Promise<void> {
    try {
      await this.#options.superseded.trim(base, Number.POSITIVE_INFINITY, generation);
    } catch (error) {
      // The sweep retries it and reports its failure.
      if (systemCode(error) === undefined) throw error;
    }
  }
}

function newVersion(): Version {
  return { chainId: randomBytes(8).toString("hex"), generation: 1 };
}

/** Whether a rename failed because its target is not empty. */
function isTaken(error: unknown): boolean {
  const code = systemCode(error);
  return code === "EEXIST" || code === "ENOTEMPTY";
}

async function linkFile(files: FileSystem, path: string, name: string): Promise<void> {
  try {
    await files.link(path, name);
  } catch (error) {
    const code = systemCode(error);
    // Linux reports EOPNOTSUPP, which Node calls ENOTSUP.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw error;
    const message = "The data directory's file system has no hard links: move the directory to one that does";
    throw new ServiceError("store_unavailable", message, { cause: error });
  }
}

/** If a chain was deleted, or another writer appended to it, its first generation must stay. */
function isUnchanged(base: string, first: Version): boolean {
  return (
    statVersion(base, first) !== undefined && statVersion(base, { ...first, generation: 2 }) === undefined
  );
}

/** Rolls back a generation that could not be made durable. The previous generation must still exist. */
function undoAppend(base: string, next: Version, head: Head): void {
  const stats = statVersion(base, next);
  const successor = { ...next, generation: next.generation + 1 };
  if (stats === undefined || statVersion(base, successor) !== undefined) return;
  if (Date.now() - stats.ctimeMs > MAX_UNDO_MS || statVersion(base, head)?.ino !== head.inode) return;
  rmSync(generationPath(base, next), { force: true });
}

/** Whether the highest generation seen still exists. If so, nothing above it was ever deleted. */
function isTopStill(base: string, { chainId, top: { generation, inode } }: Head): boolean {
  const stats = statVersion(base, { chainId, generation });
  return stats?.ino === inode;
}

/** Whether the current chain never had a generation above this one. */
function isHighest(base: string, { chainId, generation }: Version): boolean {
  const chain = readChain(base);
  return chain?.chainId === chainId && chain.generations[0] === generation;
}
