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
import { MARKER_MODE } from "./fs-generations.ts";

/** File systems allow at least 65,000 links. A lower limit lets a copy on another file system keep them. */
const MAX_LINKS = 10_000;
/** A process checks the number of links once per this many links. */
const LINKS_PER_CHECK = 500;
/** Two, because renaming a link over a link of the same inode does nothing. */
const SHARED = ["0", "1"] as const;

/**
 * Creates zero-length markers that share a few inodes: each name is a hard link of `empty/0` or `empty/1` in the store's directory.
 * A shared file with the maximum number of links is replaced; its links keep the old inode. If a file cannot be linked, e.g.
 * because another user owns it, the name gets its own inode.
 */
export class MarkerFiles {
  readonly #directory: string;
  readonly #temporary: () => string;
  readonly #link: typeof linkSync;
  #links = 0;

  /**
   * @param root directory of the store.
   * @param temporary returns this process's directory for temporary files.
   * @param link replaced in tests to inject faults.
   */
  constructor(root: string, temporary: () => string, link = linkSync) {
    this.#directory = join(root, "empty");
    this.#temporary = temporary;
    this.#link = link;
  }

  /** Creates a marker. Throws EEXIST if the name exists, ENOENT if its directory does not. */
  create(path: string): void {
    this.#linkShared(SHARED[0], path);
  }

  /** Replaces the file at `path` by a marker with another inode, atomically. */
  replace(path: string): void {
    for (const name of SHARED) {
      const made = this.#randomPath();
      try {
        this.#linkShared(name, made);
        renameSync(made, path);
        // Both names were links of one file, so the rename did nothing.
        if (existsSync(made)) continue;
        return;
      } finally {
        rmSync(made, { force: true });
      }
    }
  }

  #linkShared(name: string, path: string): void {
    const shared = join(this.#directory, name);
    if (this.#links++ % LINKS_PER_CHECK === 0 && existsSync(shared) && statSync(shared).nlink >= MAX_LINKS) {
      this.#renew(shared);
    }
    try {
      this.#link(shared, path);
      return;
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined || code === "EEXIST" || (code === "ENOENT" && existsSync(shared))) throw error;
    }
    try {
      this.#renew(shared);
      this.#link(shared, path);
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined || code === "EEXIST" || code === "ENOENT") throw error;
      createAlone(path);
    }
  }

  /** Replaces a shared file, or creates it. */
  #renew(shared: string): void {
    const made = this.#randomPath();
    try {
      createAlone(made);
      if (!existsSync(this.#directory)) mkdirSync(this.#directory, { mode: 0o700 });
      renameSync(made, shared);
    } finally {
      rmSync(made, { force: true });
    }
  }

  #randomPath(): string {
    return join(this.#temporary(), randomBytes(12).toString("hex"));
  }
}

function createAlone(path: string): void {
  const descriptor = openSync(path, "wx", MARKER_MODE);
  try {
    // Makes every link as durable as the directory that it is in.
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
