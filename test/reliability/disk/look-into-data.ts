import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { HeldPicture } from "./client.ts";

/** The file in which a service stores the time every minute. */
const CLOCK = join("due", "clock");
/** The file of the store's identity. */
/** What is no picture: the identity, and the index of copies, whose entries are below. */
const LASTING = [join("blobs", "id", "identity"), join("blobs", "co", "copies")];

/** Stored pictures that were never acknowledged, and markers of finished work. */
export async function leftovers(data: string, held: readonly HeldPicture[]): Promise<string[]> {
  const [spools, shards] = [await below(data, "tmp"), await below(data, "blobs")];
  const lists = (await below(data, "due")).filter((list) => list !== CLOCK);
  const hours = (await Promise.all(lists.map((list) => below(data, list)))).flat();
  const found = (
    await Promise.all([...spools, ...shards, ...hours].map((parent) => below(data, parent)))
  ).flat();
  const isLasting = (path: string) => LASTING.some((start) => path.startsWith(start));
  return found.filter((path) => !isLasting(path) && !held.some(({ id }) => path.endsWith(id)));
}

/** IDs of the images whose original is stored. */
export async function withBytes(data: string, pictures: readonly HeldPicture[]): Promise<string[]> {
  const shards = await below(data, "blobs");
  const directories = (await Promise.all(shards.map((shard) => below(data, shard)))).flat();
  const parts = (await Promise.all(directories.map((directory) => below(data, directory)))).flat();
  return pictures
    .map(({ id }) => id)
    .filter((id) => parts.some((path) => path.endsWith(join(id, "original@"))));
}

/** Paths in a directory; none if it was removed meanwhile. */
async function below(data: string, parent: string): Promise<string[]> {
  try {
    return (await readdir(join(data, parent))).map((name) => join(parent, name));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
