import { afterAll, beforeAll, describe } from "vitest";
import {
  type RedisCluster,
  type RedisServer,
  startRedis,
  startRedisCluster,
} from "../../../test/support/redis-server.ts";
import { redisContracts } from "../test/contracts.ts";

describe("one Redis", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());
  redisContracts(() => redis.url);
});

describe("a Redis Cluster", () => {
  let redis: RedisCluster;
  beforeAll(async () => {
    redis = await startRedisCluster();
  });
  afterAll(() => redis.close());
  redisContracts(() => redis.urls);
});
