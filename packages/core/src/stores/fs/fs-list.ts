import { randomInt } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { KeyPage, ListOptions, Shard } from "../../contracts/blob-store.ts";
import { MAX_PAGE } from "../argument-checks.ts";
import { systemCode } from "./fs-errors.ts";
import { chainNameOf } from "./fs-generations.ts";

/** A page of the keys that begin with `prefix`, ordered by segment. The cursor is the last key returned. */
export async function listKeys(
  root: string,
  prefix: string,
  shard: string,
  { cursor, limit = MAX_PAGE }: ListOptions,
): Promise<KeyPage> {
  const path = prefix.split("/").slice(0, -1);
  const after = cursor?.split("/").slice(path.length) ?? null;
  const found = prefix === "" ? walkShards(root, after) : walkKeys(join(root, shard, ...path), path, after);
  const keys: string[] = [];
  for await (const key of found) {
    if (keys.length === limit) return { keys, cursor: keys.at(-1) ?? "" };
    keys.push(key);
  }
  return { keys };
}

async function* walkShards(root: string, after: string[] | null): AsyncGenerator<string> {
  const { directories } = await readNames(root);
  for (const shard of [...directories].sort()) {
    if (after !== null && shard < (after[0] ?? "").slice(0, 2)) continue;
    yield* walkKeys(join(root, shard), [], after);
  }
}

/**
 * Walks the keys below a directory, each key before those below it. `path` is its segments; `after` is
 * relative to it.
 */
async function* walkKeys(directory: string, path: string[], after: string[] | null): AsyncGenerator<string> {
  const { chains, directories } = await readNames(directory);
  for (const name of [...new Set([...chains, ...directories])].sort()) {
    const first = after?.[0];
    if (first !== undefined && name < first) continue;
    const isOnCursor = name === first;
    if (chains.has(name) && !isOnCursor) yield [...path, name].join("/");
    if (!directories.has(name)) continue;
    yield* walkKeys(join(directory, name), [...path, name], isOnCursor ? (after?.slice(1) ?? null) : null);
  }
}

async function readNames(directory: string): Promise<{ chains: Set<string>; directories: Set<string> }> {
  const chains = new Set<string>();
  const directories = new Set<string>();
  try {
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const chain = chainNameOf(entry.name);
      if (chain === null) directories.add(entry.name);
      else chains.add(chain);
    }
  } catch (error) {
    // Not created yet, or deleted during the walk: it has no keys.
    if (systemCode(error) !== "ENOENT") throw error;
  }
  return { chains, directories };
}

/** The directories directly below `root` in random order, each with the first segments of its keys. */
export async function* fsShards(root: string): AsyncGenerator<Shard> {
  const found = await readNames(root);
  const shardCount = found.directories.size;
  for (const shard of shuffled([...found.directories])) {
    const { chains, directories } = await readNames(join(root, shard));
    yield { names: [...new Set([...chains, ...directories])], shardCount };
  }
}

/** Shuffled with equal probability of every order (Fisher–Yates). */
function shuffled<T>(items: readonly T[]): T[] {
  const order = items.map((_, index) => index);
  for (let last = order.length - 1; last > 0; last--) {
    const other = randomInt(last + 1);
    [order[last], order[other]] = [order[other] ?? other, order[last] ?? last];
  }
  return order.flatMap((index) => items.slice(index, index + 1));
}
