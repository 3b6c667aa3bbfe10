import { randomBytes } from "node:crypto";
import {
  blobStoreContract,
  dueIndexContract,
  leaseStoreContract,
  rateLimiterContract,
} from "@outrigger/testing";
import { test } from "vitest";
import { createRedisBlobStore } from "../src/blobs/redis-blob-store.ts";
import { createRedisRateLimiter } from "../src/redis-rate-limiter.ts";

/** Runs all suites that Redis fulfils. */
export function redisContracts(url: () => string | string[]): void {
  const prefixes = new WeakMap<object, string>();
  const open = async (prefix = `test-${randomBytes(6).toString("hex")}`) => {
    const store = createRedisBlobStore({ url: url(), prefix, timeoutMs: 10_000 });
    prefixes.set(store, prefix);
    return store;
  };
  blobStoreContract(test, () => open(), { abilities: ["due index"] });
  dueIndexContract(test, () => open(), { reopen: (store) => open(prefixes.get(store)) });
  // Concurrent, because these tests wait for leases to expire.
  leaseStoreContract(test.concurrent, () => open(), { openAnother: (store) => open(prefixes.get(store)) });
  rateLimiterContract(test, async () => createRedisRateLimiter({ url: url(), timeoutMs: 10_000 }));
}
