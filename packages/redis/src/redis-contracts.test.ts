import { randomBytes } from "node:crypto";
import {
  blobStoreContract,
  dueIndexContract,
  leaseStoreContract,
  rateLimiterContract,
} from "@outrigger/testing";
import { describe, test } from "vitest";
import { useRedis } from "../test/redis-stores.ts";
import { createRedisBlobStore } from "./blobs/redis-blob-store.ts";
import { createRedisRateLimiter } from "./redis-rate-limiter.ts";

const ABILITIES = ["due index"] as const;

const redis = useRedis();

describe("on one server", () => contracts(() => redis.server.url));
describe("on a cluster of three masters", () => contracts(() => redis.cluster.urls));

function contracts(url: () => string | string[]): void {
  const prefixes = new WeakMap<object, string>();
  const open = async (prefix = `test-${randomBytes(6).toString("hex")}`) => {
    const store = createRedisBlobStore({ url: url(), prefix, timeoutMs: 10_000 });
    prefixes.set(store, prefix);
    return store;
  };
  blobStoreContract(test, () => open(), { abilities: ABILITIES });
  dueIndexContract(test, () => open(), { reopen: (store) => open(prefixes.get(store)) });
  // Concurrent, because these tests wait for leases to expire.
  leaseStoreContract(test.concurrent, () => open(), { openAnother: (store) => open(prefixes.get(store)) });
  rateLimiterContract(test, async () => createRedisRateLimiter({ url: url(), timeoutMs: 10_000 }));
}
