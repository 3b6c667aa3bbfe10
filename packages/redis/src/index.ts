export type { RedisBlobStore, RedisBlobStoreOptions } from "./blobs/redis-blob-store.ts";
export { createRedisBlobStore } from "./blobs/redis-blob-store.ts";
export type { RedisOptions } from "./connection/redis-options.ts";
export type { RedisKeyvOptions } from "./redis-keyv.ts";
export { createRedisKeyv } from "./redis-keyv.ts";
export type { RedisRateLimiterOptions } from "./redis-rate-limiter.ts";
export { createRedisRateLimiter } from "./redis-rate-limiter.ts";
