import { rateLimiterContract } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import type { RateLimiter } from "../contracts/rate-limiter.ts";
import { ServiceError } from "../errors.ts";
import { createFallbackRateLimiter } from "./fallback-rate-limiter.ts";
import { createMemoryRateLimiter } from "./memory/memory-rate-limiter.ts";

const RULE = { limit: 3, windowMs: 600_000 };

/** A limiter that the test can make unavailable and available again. */
function createUnsteady() {
  const steady = createMemoryRateLimiter();
  const state = { isAway: false, asked: 0 };
  const ask = async <T>(use: () => Promise<T>) => {
    state.asked++;
    if (state.isAway) throw new ServiceError("store_unavailable", "The limiter is unavailable");
    return use();
  };
  const limiter: RateLimiter = {
    consume: (key, rule, cost) => ask(() => steady.consume(key, rule, cost)),
    peek: (key, rule) => ask(() => steady.peek(key, rule)),
    refund: (key, rule, cost) => ask(() => steady.refund(key, rule, cost)),
    close: () => steady.close(),
  };
  return { limiter, state };
}

describe("the fallback limiter, while the shared limiter is available", () => {
  rateLimiterContract(test, async () => {
    const shared = createMemoryRateLimiter();
    const limiter = createFallbackRateLimiter(shared, () => undefined);
    const close = async () => {
      await limiter.close();
      await shared.close();
    };
    return { ...limiter, close };
  });
});

describe("the fallback limiter, while the shared limiter is unavailable", () => {
  rateLimiterContract(test, async () => {
    const { limiter, state } = createUnsteady();
    state.isAway = true;
    return createFallbackRateLimiter(limiter, () => undefined);
  });
});

test("the fallback limiter reports simultaneous failures once, and tries the shared limiter once per second", async () => {
  const { limiter, state } = createUnsteady();
  const errors: unknown[] = [];
  const fallback = createFallbackRateLimiter(limiter, (error) => errors.push(error));
  state.isAway = true;
  const results = await Promise.all(Array.from({ length: 5 }, () => fallback.consume("key", RULE)));
  expect(results.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
  expect(errors).toMatchObject([{ code: "store_unavailable" }]);
  const { asked } = state;
  for (let turn = 0; turn < 10; turn++) await fallback.peek("key", RULE);
  expect(state.asked).toBe(asked);
});

test("the fallback limiter counts in the shared limiter again once that is back", async () => {
  const { limiter, state } = createUnsteady();
  const fallback = createFallbackRateLimiter(limiter, () => undefined);
  await fallback.consume("key", RULE);
  state.isAway = true;
  expect(await fallback.consume("key", RULE)).toMatchObject({ remaining: 2 });
  state.isAway = false;
  await expect.poll(() => fallback.peek("key", RULE)).toMatchObject({ remaining: 2 });
  const { asked } = state;
  const askedNow = async () => {
    await fallback.peek("key", RULE);
    return state.asked;
  };
  await expect.poll(askedNow).toBeGreaterThan(asked);
  expect(await fallback.consume("key", RULE)).toMatchObject({ remaining: 1 });
});

test("the fallback limiter does not treat an invalid call as an outage", async () => {
  const { limiter, state } = createUnsteady();
  const fallback = createFallbackRateLimiter(limiter, () => undefined);
  await expect(fallback.consume("key", { limit: 0, windowMs: 1 })).rejects.toThrow(TypeError);
  await fallback.peek("key", RULE);
  expect(state.asked).toBe(2);
});
