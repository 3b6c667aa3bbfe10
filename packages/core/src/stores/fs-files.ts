import { type FileHandle, link, open } from "node:fs/promises";

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
    const directory = await open(path, "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  },
  link,
};
