import {
  checkOptions,
  checkValue,
  type RateLimiter,
  type RateResult,
  type RateRule,
  rules,
} from "@outrigger/core/stores";
import { createScript, RedisConnection } from "./connection/redis-connection.ts";
import { CONNECTION_RULES, PREFIX_RULE, readOptions } from "./connection/redis-options.ts";

/** The longest window is 24.8 days, as for the limiter in memory. */
const WINDOW = rules.whole(1, 2 ** 31 - 1);
const COUNT = rules.whole(1);

const RULES = {
  ...CONNECTION_RULES,
  /** Prefix of all keys: 1 to 100 letters, digits and `_.:-`. A store may use the same. @default "outrigger" */
  prefix: PREFIX_RULE,
};

export interface RedisRateLimiterOptions extends rules.Options<typeof RULES> {}

/**
 * Windows. KEYS: the counter. ARGV: "take", "look" or "give", points, limit, length of the window in milliseconds. The
 * window is the counter's time to live, so only the server's clock counts. Returns [1 if allowed, points left,
 * milliseconds left].
 */
const count = createScript(`
local cost, limit, windowMs = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local used, leftMs = tonumber(redis.call('GET', KEYS[1]) or 0), redis.call('PTTL', KEYS[1])
local isNew = leftMs < 0
if isNew then used, leftMs = 0, windowMs end
if ARGV[1] == 'look' then return {used < limit and 1 or 0, limit - used, leftMs} end
if ARGV[1] == 'give' then
  local back = math.min(cost, used)
  if back > 0 then redis.call('DECRBY', KEYS[1], back) end
  return {1, limit - used + back, leftMs}
end
if used + cost > limit then return {0, limit - used, leftMs} end
if isNew then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[4])
else
  redis.call('INCRBY', KEYS[1], ARGV[2])
end
return {1, limit - used - cost, leftMs}
`);

/**
 * Buckets. KEYS: the bucket, which exists until it is full. ARGV: as above, then the points of a full bucket. What is taken
 * is counted in shares, so that refills are whole numbers: a point has `windowMs` shares, and `limit` shares refill each
 * millisecond. The time to live says how much is taken, rounded up to a millisecond; the value is what the rounding added.
 */
const fill = createScript(`
local cost, limit, windowMs = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local capacity = tonumber(ARGV[5]) * windowMs
local leftMs = redis.call('PTTL', KEYS[1])
local taken = 0
if leftMs > 0 then taken = math.max(0, leftMs * limit - tonumber(redis.call('GET', KEYS[1]))) end
local function answer(isAllowed)
  local missing = taken
  if isAllowed == 0 then missing = math.min(cost * windowMs, capacity) + taken - capacity end
  return {isAllowed, math.floor((capacity - taken) / windowMs), math.ceil(missing / limit)}
end
if ARGV[1] == 'look' then return answer(taken + windowMs <= capacity and 1 or 0) end
if ARGV[1] == 'give' then cost = -cost end
if taken + cost * windowMs > capacity then return answer(0) end
taken = math.max(0, taken + cost * windowMs)
if taken == 0 then
  redis.call('DEL', KEYS[1])
else
  local untilMs = math.ceil(taken / limit)
  redis.call('SET', KEYS[1], string.format('%.0f', untilMs * limit - taken), 'PX', string.format('%.0f', untilMs))
end
return answer(1)
`);

/**
 * A limiter that all processes on one Redis server or cluster share. Windows follow the server's clock.
 *
 * It has its own scripts because rate-limiter-flexible counts refused attempts, starts a window with one, and has
 * windows of whole seconds only.
 *
 * Rejects with a `TypeError` for a limit, a burst or a cost that is not an integer of at least 1, or a window that is not an
 * integer of 1 to 2,147,483,647 ms (24.8 days), and with `store_unavailable` if the limiter is closed or
 * Redis fails.
 */
export function createRedisRateLimiter(options: RedisRateLimiterOptions): RateLimiter {
  const { prefix, ...given } = checkOptions("createRedisRateLimiter", options, RULES);
  const connection = new RedisConnection(readOptions(given), "rate limiter");

  async function run(
    what: string,
    key: string,
    { limit, windowMs, burst }: RateRule,
    cost: number,
  ): Promise<RateResult> {
    checkValue("limit", limit, COUNT);
    checkValue("windowMs", windowMs, WINDOW);
    checkValue("cost", cost, COUNT);
    if (burst !== undefined) checkValue("burst", burst, COUNT);
    const [script, ...numbers] =
      burst === undefined ? [count, limit, windowMs] : [fill, limit, windowMs, burst];
    const name = `${prefix}:rate:${numbers.join("/")}:${key}`;
    const reply = await connection.run(script, [name], [what, cost, ...numbers].map(String));
    const [isAllowed, remaining, resetMs] = reply as [number, number, number]; // The reply of the script.
    return { allowed: isAllowed === 1, remaining, resetMs };
  }

  return {
    consume: (key, rule, cost = 1) => run("take", key, rule, cost),
    peek: (key, rule) => run("look", key, rule, 1),
    async refund(key, rule, cost = 1) {
      await run("give", key, rule, cost);
    },
    close: () => connection.close(),
  };
}
