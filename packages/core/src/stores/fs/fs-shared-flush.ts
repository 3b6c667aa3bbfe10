import { systemCode } from "./fs-errors.ts";
import type { FileSystem } from "./fs-files.ts";

/**
 * Flushes directories' entries, one flush for all who ask while another is under way: a disk makes some hundreds a second,
 * however many entries each covers. A directory that was removed meanwhile has none.
 * @returns flushes what was in a directory when it was called.
 */
export function createSharedFlush(files: FileSystem): (directory: string) => Promise<void> {
  /** Not begun, so that they cover whatever is there by now. */
  const coming = new Map<string, Promise<void>>();
  const underWay = new Map<string, Promise<void>>();

  async function flushAfterOthers(directory: string): Promise<void> {
    // Whoever waits for that one is told of its failure; this one is another.
    await underWay.get(directory)?.catch(() => undefined);
    const flush = syncWhatIsThere(files, directory);
    coming.delete(directory);
    underWay.set(directory, flush);
    try {
      await flush;
    } finally {
      underWay.delete(directory);
    }
  }

  return (directory) => {
    const known = coming.get(directory);
    if (known !== undefined) return known;
    const flush = flushAfterOthers(directory);
    coming.set(directory, flush);
    return flush;
  };
}

async function syncWhatIsThere(files: FileSystem, path: string): Promise<void> {
  try {
    await files.syncDirectory(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
}
