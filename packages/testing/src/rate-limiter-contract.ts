import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { RateLimiter, RateRule } from "@outrigger/core/stores";
import type { ConformanceTest } from "./conformance-test.ts";
import { closedBehaviour, pairTest } from "./pair.ts";

/** Longer than every test. */
const LONG_MS = 600_000;
const SHORT_MS = 300;

/**
 * Tests that a limiter fulfils the {@link RateLimiter} contract.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 * @param create Creates a limiter; several may share one backend.
 */
export function rateLimiterContract(test: ConformanceTest, create: () => Promise<RateLimiter>): void {
  const pairs = pairTest(test, "rate limiter", create);
  function it(name: string, body: (limiter: RateLimiter, key: string) => Promise<void>): void {
    pairs(name, ({ one, id }) => body(one, id));
  }

  it("consume counts down to 0 and rejects points over the limit", async (limiter, key) => {
    const rule = { limit: 3, windowMs: LONG_MS };
    for (const remaining of [2, 1, 0]) {
      await assertResult(limiter.consume(key, rule), true, remaining);
    }
    await assertResult(limiter.consume(key, rule), false, 0);
  });

  it("of many simultaneous consume calls, exactly the limit is allowed", async (limiter, key) => {
    const rule = { limit: 25, windowMs: LONG_MS };
    const results = await Promise.all(Array.from({ length: 100 }, () => limiter.consume(key, rule)));
    const admitted = results.filter(({ allowed }) => allowed);
    assert.equal(admitted.length, 25);
    const remaining = admitted.map((result) => result.remaining).sort((a, b) => a - b);
    assert.deepEqual(
      remaining,
      Array.from({ length: 25 }, (_, index) => index),
    );
  });

  it("a cost is taken completely or not at all, and a rejected one costs nothing", async (limiter, key) => {
    const rule = { limit: 10, windowMs: LONG_MS };
    await assertResult(limiter.consume(key, rule, 7), true, 3);
    for (let attempt = 0; attempt < 5; attempt++) {
      await assertResult(limiter.consume(key, rule, 4), false, 3);
    }
    await assertResult(limiter.consume(key, rule, 3), true, 0);
  });

  it("a rejected consume costs nothing, also during simultaneous calls", async (limiter, key) => {
    const rule = { limit: 10, windowMs: LONG_MS };
    await limiter.consume(key, rule, 4);
    const tooDear = Array.from({ length: 10 }, () => limiter.consume(key, rule, 7));
    const affordable = Array.from({ length: 6 }, () => limiter.consume(key, rule));
    assert.ok((await Promise.all(tooDear)).every(({ allowed }) => !allowed));
    assert.ok((await Promise.all(affordable)).every(({ allowed }) => allowed));
  });

  it("a cost above the limit is rejected and begins no window", async (limiter, key) => {
    const rule = { limit: 5, windowMs: LONG_MS };
    await assertResult(limiter.consume(key, rule, 6), false, 5);
    await assertResult(limiter.consume(key, rule, 5), true, 0);
  });

  it("peek takes no points", async (limiter, key) => {
    const rule = { limit: 2, windowMs: LONG_MS };
    for (let round = 0; round < 5; round++) {
      await assertResult(limiter.peek(key, rule), true, 2);
    }
    await limiter.consume(key, rule);
    await assertResult(limiter.peek(key, rule), true, 1);
    await limiter.consume(key, rule);
    await assertResult(limiter.peek(key, rule), false, 0);
  });

  it("refund returns points, but never more than were taken", async (limiter, key) => {
    const rule = { limit: 5, windowMs: LONG_MS };
    await limiter.refund(key, rule, 3);
    await assertResult(limiter.peek(key, rule), true, 5);
    await limiter.consume(key, rule, 5);
    await limiter.refund(key, rule);
    await assertResult(limiter.peek(key, rule), true, 1);
    await limiter.refund(key, rule, 100);
    await assertResult(limiter.consume(key, rule, 5), true, 0);
    assert.equal((await limiter.consume(key, rule)).allowed, false);
  });

  it("many simultaneous refunds all count", async (limiter, key) => {
    const rule = { limit: 20, windowMs: LONG_MS };
    await limiter.consume(key, rule, 20);
    await Promise.all(Array.from({ length: 10 }, () => limiter.refund(key, rule)));
    await assertResult(limiter.peek(key, rule), true, 10);
  });

  it("the time until a reset is whole milliseconds, and at most the window", async (limiter, key) => {
    const rule = { limit: 1, windowMs: LONG_MS };
    for (let round = 0; round < 100; round++) {
      await limiter.consume(`${key}:${round}`, rule);
      const { resetMs } = await limiter.peek(`${key}:${round}`, rule);
      assert.ok(Number.isInteger(resetMs) && resetMs <= LONG_MS, `${resetMs} ms`);
    }
  });

  it("each key is counted separately, whatever its characters", async (limiter, key) => {
    const rule = { limit: 1, windowMs: LONG_MS };
    const names = ["", ":1", "/", " ", "*", "{a}", "2001:db8::/64", "é", "\n", "x".repeat(300)];
    for (const name of names) {
      assert.equal((await limiter.consume(key + name, rule)).allowed, true, JSON.stringify(name));
    }
    for (const name of names) {
      assert.equal((await limiter.consume(key + name, rule)).allowed, false, JSON.stringify(name));
    }
  });

  it("each rule is counted separately", async (limiter, key) => {
    const rules = [
      { limit: 1, windowMs: LONG_MS },
      { limit: 1, windowMs: LONG_MS, burst: 1 },
      { limit: 2, windowMs: LONG_MS },
      { limit: 1, windowMs: LONG_MS + 1 },
    ];
    for (const rule of rules) {
      await assertResult(limiter.consume(key, rule), true, rule.limit - 1);
    }
  });

  it("resetMs is the time until the window ends", async (limiter, key) => {
    const rule = { limit: 2, windowMs: LONG_MS };
    const before = performance.now();
    const first = await limiter.consume(key, rule);
    const results = [first, await limiter.consume(key, rule), await limiter.consume(key, rule)];
    results.push(await limiter.peek(key, rule));
    const elapsed = performance.now() - before;
    for (const { resetMs } of results) {
      assert.ok(Number.isInteger(resetMs), `${resetMs}`);
      assert.ok(resetMs <= LONG_MS && resetMs >= LONG_MS - elapsed - 5, `${resetMs} after ${elapsed} ms`);
    }
  });

  it("a window begins with its first point, and rejected attempts do not extend it", async (limiter, key) => {
    const rule = { limit: 2, windowMs: SHORT_MS };
    const before = performance.now();
    await limiter.consume(key, rule, 2);
    const reopened = await untilAllowed(limiter, key, rule);
    // The backend's clock may differ by some milliseconds.
    assert.ok(reopened.atMs - before >= SHORT_MS - 20, `open again after ${reopened.atMs - before} ms`);
    assert.equal(reopened.remaining, 1);
  });

  it("a burst is allowed at once, and exactly the burst", async (limiter, key) => {
    const rule = { limit: 1, windowMs: LONG_MS, burst: 25 };
    const results = await Promise.all(Array.from({ length: 60 }, () => limiter.consume(key, rule)));
    assert.equal(results.filter(({ allowed }) => allowed).length, 25);
    await assertResult(limiter.peek(key, rule), false, 0);
    await assertResult(limiter.peek(`${key}/`, rule), true, 25);
  });

  it("a bucket refills by one point at a time, and never beyond its burst", async (limiter, key) => {
    const rule = { limit: 3, windowMs: 3 * SHORT_MS, burst: 2 };
    const before = performance.now();
    await limiter.consume(key, rule, 2);
    const { atMs: first } = await untilAllowed(limiter, key, rule);
    assert.ok(first - before >= SHORT_MS - 20, `a point after ${first - before} ms`);
    const { atMs: second } = await untilAllowed(limiter, key, rule);
    assert.ok(second - before >= 2 * SHORT_MS - 20, `two points after ${second - before} ms`);
    await delay(3 * SHORT_MS);
    await assertResult(limiter.peek(key, rule), true, 2);
    await assertResult(limiter.consume(key, rule, 3), false, 2);
  });

  it("a bucket takes a cost completely or not at all, and refund returns it", async (limiter, key) => {
    const rule = { limit: 1, windowMs: LONG_MS, burst: 10 };
    await limiter.refund(key, rule, 3);
    await assertResult(limiter.consume(key, rule, 7), true, 3);
    await assertResult(limiter.consume(key, rule, 4), false, 3);
    await limiter.refund(key, rule, 2);
    await assertResult(limiter.consume(key, rule, 5), true, 0);
    await limiter.refund(key, rule, 100);
    await assertResult(limiter.peek(key, rule), true, 10);
  });

  it("resetMs of a bucket is the time until it is full or, after a refusal, until the points are there", async (limiter, key) => {
    const rule = { limit: 6, windowMs: LONG_MS, burst: 20 };
    const pointMs = LONG_MS / 6;
    const before = performance.now();
    const taken = await limiter.consume(key, rule, 18);
    const refused = await limiter.consume(key, rule, 5);
    const elapsed = performance.now() - before;
    for (const [{ resetMs }, expected] of [
      [taken, 18 * pointMs],
      [refused, 3 * pointMs],
    ] as const) {
      assert.ok(Number.isInteger(resetMs), `${resetMs}`);
      assert.ok(resetMs <= expected && resetMs >= expected - elapsed - 5, `${resetMs} after ${elapsed} ms`);
    }
    assert.deepEqual(await limiter.peek(`${key}/`, rule), { allowed: true, remaining: 20, resetMs: 0 });
  });

  closedBehaviour(
    pairs,
    async ({ one, id }) => {
      await one.consume(id, { limit: 1, windowMs: LONG_MS });
      return one;
    },
    ({ one, id }) => {
      const rule = { limit: 1, windowMs: LONG_MS };
      return {
        consume: () => one.consume(id, rule),
        peek: () => one.peek(id, rule),
        refund: () => one.refund(id, rule),
      };
    },
  );
}

async function assertResult(
  pending: ReturnType<RateLimiter["peek"]>,
  allowed: boolean,
  remaining: number,
): Promise<void> {
  const result = await pending;
  assert.deepEqual([result.allowed, result.remaining], [allowed, remaining]);
}

/** Retries until one point is allowed. */
async function untilAllowed(limiter: RateLimiter, key: string, rule: RateRule) {
  for (let attempt = 0; attempt < 1000; attempt++) {
    const { allowed, remaining } = await limiter.consume(key, rule);
    if (allowed) return { atMs: performance.now(), remaining };
    await delay(5);
  }
  assert.fail("the window never ended");
}
