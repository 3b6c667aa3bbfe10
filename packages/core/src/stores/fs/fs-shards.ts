import { randomInt } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Shard } from "../../contracts/shard-sampler.ts";
import { systemCode } from "./fs-errors.ts";
import { chainNameOf } from "./fs-generations.ts";

/** The directories right below `root` in random order, each with the first segments of the keys in it. */
export async function* fsShards(root: string): AsyncGenerator<Shard> {
  const found = await directoriesIn(root);
  const shardCount = found.length;
  for (const shard of shuffled(found)) {
    const names = new Set((await directoriesIn(join(root, shard))).map((name) => chainNameOf(name) ?? name));
    yield { names: [...names], shardCount };
  }
}

async function directoriesIn(path: string): Promise<string[]> {
  try {
    const found = await readdir(path, { withFileTypes: true });
    return found.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    // Nothing was stored yet, or the last blob of the directory has just been removed.
    if (systemCode(error) !== "ENOENT") throw error;
    return [];
  }
}

/** In an order of which each is as likely as any other (Fisher and Yates). */
function shuffled<T>(items: readonly T[]): T[] {
  const order = items.map((_, index) => index);
  for (let last = order.length - 1; last > 0; last--) {
    const other = randomInt(last + 1);
    [order[last], order[other]] = [order[other] ?? other, order[last] ?? last];
  }
  return order.flatMap((index) => items.slice(index, index + 1));
}
