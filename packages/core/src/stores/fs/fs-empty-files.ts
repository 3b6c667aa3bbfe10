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

/** Creates empty files that share a few inodes: each name is a hard link. */
export interface EmptyFiles {
  /** Creates an empty file. Throws EEXIST if the name exists, ENOENT if its directory does not. */
  create(path: string): void;
  /** Replaces the file at `path` by an empty file with another inode, atomically. */
  replace(path: string): void;
}

/** File systems allow at least 65,000 links. A lower limit lets a copy on another file system keep them. */
const MAX_LINKS = 10_000;
/** A process checks the number of links once per this many links. */
const LINKS_PER_LOOK = 500;
/** Two, because renaming a link over a link of the same inode does nothing. */
const SHARED = ["0", "1"] as const;

/**
 * The shared files are `empty/0` and `empty/1` in the store's directory. A shared file with the maximum
 * number of links is replaced; its links keep the old inode. If a file cannot be linked, e.g. because another
 * user owns it, the name gets its own inode.
 * @param root directory of the store.
 * @param temporary returns this process's directory for temporary files.
 * @param link replaced in tests to inject faults.
 */
export function createEmptyFiles(root: string, temporary: () => string, link = linkSync): EmptyFiles {
  const directory = join(root, "empty");
  let links = 0;

  const randomPath = () => join(temporary(), randomBytes(12).toString("hex"));

  function createAlone(path: string): void {
    const descriptor = openSync(path, "wx", STUB_MODE);
    try {
      // Makes every link as durable as the directory that it is in.
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Replaces a shared file, or creates it. */
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
          // Both names were links of one file, so the rename did nothing.
          if (existsSync(made)) continue;
          return;
        } finally {
          rmSync(made, { force: true });
        }
      }
    },
  };
}
