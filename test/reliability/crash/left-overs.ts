import { readdir } from "node:fs/promises";
import { join, sep } from "node:path";

/** IDs of the images of which anything is stored. */
export async function idsIn(directory: string): Promise<Set<string>> {
  return new Set((await blobsIn(directory)).map(({ id }) => id));
}

/** A file among the blobs: `<shard>/<id>/<key>@/<revision>`. */
export interface StoredFile {
  id: string;
  /** The key after the ID, such as `record` or `original`. */
  part: string;
}

const ID = /^[\w-]{22}$/;

/** The stored files of images. Other blobs, such as the markers of pending work, belong to no image. */
export async function blobsIn(directory: string): Promise<StoredFile[]> {
  return (await filesBelow(join(directory, "blobs"))).flatMap((path) => {
    const [, id = "", ...rest] = path.split(sep);
    const part = rest.slice(0, -1).join("/").replaceAll("@", "");
    return ID.test(id) ? [{ id, part }] : [];
  });
}

/** Temporary files of all processes: not yet acknowledged, or no longer needed. */
export function temporaryFiles(directory: string): Promise<string[]> {
  return filesBelow(join(directory, "tmp"));
}

/** The processes that have a directory for temporary files. */
export function temporaryDirectories(directory: string): Promise<string[]> {
  return readdir(join(directory, "tmp"));
}

/** Paths relative to `directory`. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    // Removed during the walk.
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const paths = entries.map(async (entry) => {
    if (!entry.isDirectory()) return [entry.name];
    return (await filesBelow(join(directory, entry.name))).map((path) => join(entry.name, path));
  });
  return (await Promise.all(paths)).flat();
}
