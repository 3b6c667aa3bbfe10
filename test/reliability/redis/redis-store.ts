import type { BlobStore } from "@outrigger/core/stores";
import { createRedisBlobStore, type RedisBlobStore } from "@outrigger/redis";
import { expect } from "vitest";
import { type RedisServer, startRedis } from "../../support/redis-server.ts";

export const MIB = 2 ** 20;
export const UNAVAILABLE = { code: "store_unavailable" };

export async function withServer(
  options: Parameters<typeof startRedis>[0],
  body: (server: RedisServer, store: RedisBlobStore) => Promise<void>,
  extra: { supersededMs?: number } = {},
): Promise<void> {
  const server = await startRedis(options);
  const store = createRedisBlobStore({ url: server.url, ...extra });
  try {
    await body(server, store);
  } finally {
    await store.close();
    await server.close();
  }
}

/** Resolves when the store works again. */
export async function healed(store: BlobStore): Promise<void> {
  const work = () => store.put("healed", Buffer.from("x")).then(() => "healed", String);
  await expect.poll(work, { interval: 20 }).toBe("healed");
  await store.delete("healed");
}

export async function allKeys(store: BlobStore): Promise<Set<string>> {
  const keys = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await store.list("", cursor === undefined ? {} : { cursor });
    for (const key of page.keys) keys.add(key);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return keys;
}

/** How many bytes of a blob can be read; -1 if there is no such blob. */
export async function sizeOf(store: BlobStore, key: string): Promise<number> {
  const blob = await store.get(key);
  if (blob === null) return -1;
  return Buffer.isBuffer(blob.body) ? blob.body.length : Buffer.concat(await blob.body.toArray()).length;
}
