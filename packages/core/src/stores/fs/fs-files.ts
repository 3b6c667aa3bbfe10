import { closeSync, fsync, openSync } from "node:fs";
import { type FileHandle, link } from "node:fs/promises";
import { promisify } from "node:util";

const flush = promisify(fsync);

/** The calls on which durability and atomicity rest, so that a test can make each of them fail. */
export interface FileSystem {
  /** Flushes a file's bytes and size to the disk. */
  sync(file: FileHandle): Promise<void>;
  /** Flushes a directory's entries to the disk. */
  syncDirectory(path: string): Promise<void>;
  /** Gives a file another name; fails with EEXIST where that is taken. */
  link(from: string, to: string): Promise<void>;
}

export const nodeFiles: FileSystem = {
  sync: (file) => file.sync(),
  async syncDirectory(path) {
    // Only the flush waits for the disk: a hop to the thread pool for each of the others costs more than they do.
    const directory = openSync(path, "r");
    try {
      await flush(directory);
    } finally {
      closeSync(directory);
    }
  },
  link,
};
