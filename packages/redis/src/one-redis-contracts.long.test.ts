import { afterAll, beforeAll } from "vitest";
import { type RedisServer, startRedis } from "../../../test/support/redis-server.ts";
import { redisContracts } from "../test/contracts.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.close());

redisContracts(() => redis.url);
