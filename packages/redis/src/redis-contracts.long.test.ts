import { afterAll, beforeAll } from "vitest";
import { type RedisCluster, startRedisCluster } from "../../../test/support/redis-server.ts";
import { redisContracts } from "../test/contracts.ts";

let redis: RedisCluster;
beforeAll(async () => {
  redis = await startRedisCluster();
});
afterAll(() => redis.close());

redisContracts(() => redis.urls);
