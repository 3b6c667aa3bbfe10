import { randomBytes } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import {
  type RedisCluster,
  type RedisServer,
  startRedis,
  startRedisCluster,
} from "../../../test/support/redis-server.ts";
import {
  createRedisBlobStore,
  type RedisBlobStore,
  type RedisBlobStoreOptions,
} from "../src/blobs/redis-blob-store.ts";

type Extra = Partial<Pick<RedisBlobStoreOptions, "prefix" | "supersededMs">>;

/** Opens a new store with a random prefix, passes it to `body`, and closes it afterwards. */
export async function withStore(
  url: string | string[],
  body: (store: RedisBlobStore, prefix: string) => Promise<void>,
  extra: Extra = {},
): Promise<void> {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  const store = createRedisBlobStore({ url, prefix, timeoutMs: 10_000, ...extra });
  try {
    await body(store, prefix);
  } finally {
    await store.close();
  }
}

/** Starts a server and a cluster for the tests of a file. They are usable within tests only. */
export function useRedis(): { readonly server: RedisServer; readonly cluster: RedisCluster } {
  let started: [RedisServer, RedisCluster] | undefined;
  const opened = () => {
    if (started === undefined) throw new Error("Redis is not started yet: use it within a test.");
    return started;
  };
  beforeAll(async () => {
    started = await Promise.all([startRedis(), startRedisCluster()]);
  });
  afterAll(async () => {
    await Promise.all(started?.map((each) => each.close()) ?? []);
  });
  return {
    get server() {
      return opened()[0];
    },
    get cluster() {
      return opened()[1];
    },
  };
}
