import { closeSync, fsync, openSync } from "node:fs";
import { link } from "node:fs/promises";
import { promisify } from "node:util";

const flush = promisify(fsync);

/** The calls on which durability and atomicity depend. A test can make each of them fail. */
export interface FileSystem {
  /** Flushes the bytes and the size of an open file to the disk. */
  sync(descriptor: number): Promise<void>;
  /** Flushes a directory's entries to the disk. */
  syncDirectory(path: string): Promise<void>;
  /** Adds a second name to a file; fails with EEXIST if that name exists. */
  link(from: string, to: string): Promise<void>;
}

export const nodeFiles: FileSystem = {
  sync: flush,
  async syncDirectory(path) {
    // Only the flush waits for the disk; for the other calls a hop to the thread pool costs more than the
    // call.
    const directory = openSync(path, "r");
    try {
      await flush(directory);
    } finally {
      closeSync(directory);
    }
  },
  link,
};
