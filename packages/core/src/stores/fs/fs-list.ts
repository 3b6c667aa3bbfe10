import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { KeyPage, ListOptions } from "../../contracts/blob-store.ts";
import { checkListing, MAX_PAGE } from "../argument-checks.ts";
import { storeError, systemCode } from "./fs-files.ts";
import { shardOf } from "./fs-generations.ts";

/** A page of the keys that begin with `prefix`, ordered by segment. The cursor is the last key returned. */
export async function listKeys(
  root: string,
  prefix: string,
  { cursor, limit = MAX_PAGE, onUnreadable }: ListOptions,
): Promise<KeyPage> {
  checkListing(prefix, limit);
  const path = prefix.split("/").slice(0, -1);
  const after = cursor?.split("/").slice(path.length) ?? null;
  const found =
    prefix === ""
      ? walkShards(root, after, onUnreadable)
      : walkKeys(join(root, shardOf(prefix), ...path), path, after, onUnreadable);
  return pageOf(found, limit);
}

type OnUnreadable = ListOptions["onUnreadable"];

async function pageOf(found: AsyncGenerator<string>, limit: number): Promise<KeyPage> {
  const keys: string[] = [];
  for await (const key of found) {
    if (keys.length === limit) return { keys, cursor: keys.at(-1) ?? "" };
    keys.push(key);
  }
  return { keys };
}

/** A shard is a directory of keys that begin with its name: with two characters, or with the only one of their first segment. */
async function* walkShards(
  root: string,
  after: string[] | null,
  onUnreadable: OnUnreadable,
): AsyncGenerator<string> {
  const { directories } = await readNames(root, onUnreadable);
  for (const shard of [...directories].sort()) {
    if (after !== null && shard < (after[0] ?? "").slice(0, 2)) continue;
    yield* walkKeys(join(root, shard), [], after, onUnreadable);
  }
}

/**
 * Walks the keys below a directory, each key before those below it. `path` is its segments; `after` is
 * relative to it.
 */
async function* walkKeys(
  directory: string,
  path: string[],
  after: string[] | null,
  onUnreadable: OnUnreadable,
): AsyncGenerator<string> {
  const { chains, directories } = await readNames(directory, onUnreadable);
  for (const name of [...new Set([...chains, ...directories])].sort()) {
    const first = after?.[0];
    if (first !== undefined && name < first) continue;
    const isOnCursor = name === first;
    if (chains.has(name) && !isOnCursor) yield [...path, name].join("/");
    if (!directories.has(name)) continue;
    const rest = isOnCursor ? (after?.slice(1) ?? null) : null;
    yield* walkKeys(join(directory, name), [...path, name], rest, onUnreadable);
  }
}

/** Codes of a directory that this user may not read. */
const REFUSED = new Set<string | undefined>(["EACCES", "EPERM"]);

async function readNames(
  directory: string,
  onUnreadable: OnUnreadable,
): Promise<{ chains: Set<string>; directories: Set<string> }> {
  const chains = new Set<string>();
  const directories = new Set<string>();
  try {
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const { name } = entry;
      // The directory of a chain is the last segment of its key and an `@`.
      if (name.endsWith("@")) chains.add(name.slice(0, -1));
      else directories.add(name);
    }
  } catch (error) {
    const code = systemCode(error);
    if (REFUSED.has(code) && onUnreadable !== undefined) onUnreadable(directory, storeError(error));
    // Not created yet, or deleted during the walk: it has no keys.
    else if (code !== "ENOENT") throw error;
  }
  return { chains, directories };
}
