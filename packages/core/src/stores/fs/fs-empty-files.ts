import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { systemCode } from "./fs-errors.ts";
import { STUB_MODE } from "./fs-generations.ts";

/** Names of empty files that share a few inodes: each name is a hard link. */
export interface EmptyFiles {
  /** Makes an empty file. Throws EEXIST for a name that is taken, and ENOENT where its directory is missing. */
  create(path: string): void;
  /** Puts an empty file of another inode in the place of the file at `path`, which is never away in between. */
  replace(path: string): void;
}

/** File systems allow 65,000 links and more. Fewer, so that a copy on another file system can have them too. */
const MAX_LINKS = 10_000;
/** A process looks at the number of links once in so many. */
const LINKS_PER_LOOK = 500;
/** Two, since one that has a name already cannot be renamed over it: that does nothing. */
const SHARED = ["0", "1"] as const;

/**
 * The shared files are `empty/0` and `empty/1` in the store's directory. One that has its share of links is replaced; its
 * links keep the old inode. Where a file cannot be linked, e.g. because another user owns it, a name gets an inode of its own.
 * @param root directory of the store.
 * @param temporary gives this process' directory for temporary files.
 * @param link for tests of its faults.
 */
export function createEmptyFiles(root: string, temporary: () => string, link = linkSync): EmptyFiles {
  const directory = join(root, "empty");
  let links = 0;

  const randomPath = () => join(temporary(), randomBytes(12).toString("hex"));

  function createAlone(path: string): void {
    const descriptor = openSync(path, "wx", STUB_MODE);
    try {
      // So that every link is as durable as the directory that it is in.
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Replaces a shared file, or makes it. */
  function renew(shared: string): void {
    const made = randomPath();
    try {
      createAlone(made);
      if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
      renameSync(made, shared);
    } finally {
      rmSync(made, { force: true });
    }
  }

  function linkShared(name: string, path: string): void {
    const shared = join(directory, name);
    if (links++ % LINKS_PER_LOOK === 0 && existsSync(shared) && statSync(shared).nlink >= MAX_LINKS) {
      renew(shared);
    }
    try {
      link(shared, path);
      return;
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined || code === "EEXIST" || (code === "ENOENT" && existsSync(shared))) throw error;
    }
    try {
      renew(shared);
      link(shared, path);
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined || code === "EEXIST" || code === "ENOENT") throw error;
      createAlone(path);
    }
  }

  return {
    create: (path) => linkShared(SHARED[0], path),
    replace(path) {
      for (const name of SHARED) {
        const made = randomPath();
        try {
          linkShared(name, made);
          renameSync(made, path);
          // Both were names of one file, so nothing was renamed.
          if (existsSync(made)) continue;
          return;
        } finally {
          rmSync(made, { force: true });
        }
      }
    },
  };
}
