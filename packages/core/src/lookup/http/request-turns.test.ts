import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createMemoryRateLimiter } from "../../stores/memory/memory-rate-limiter.ts";
import { RequestTurns } from "./request-turns.ts";

const never = new AbortController().signal;

/** How each request ends: `passed`, or the reason of its refusal. */
async function endOf(request: Promise<void>): Promise<string> {
  return request.then(
    () => "passed",
    (error) => (error instanceof Error && "id" in error ? String(error.id) : String(error)),
  );
}

function countOf(ends: readonly string[]) {
  const count = (end: string) => ends.filter((each) => each === end).length;
  return { passed: count("passed"), rate_limited: count("rate_limited") };
}

test("requests over the rate pass in order of arrival, at most the rate in each second", async () => {
  const turns = new RequestTurns(createMemoryRateLimiter(), 10);
  const passed: { index: number; at: number }[] = [];
  const startedAt = performance.now();
  const take = async (index: number) => {
    await turns.take("key", true, never);
    passed.push({ index, at: performance.now() - startedAt });
  };
  await Promise.all(Array.from({ length: 25 }, (_, index) => take(index)));
  expect(passed.map(({ index }) => index)).toEqual(passed.map((_, index) => index));
  expect(passed[9]?.at).toBeLessThan(900);
  expect(passed[10]?.at).toBeGreaterThan(950);
  expect(passed[20]?.at).toBeGreaterThan(1950);
});

test("at most 30 requests of a key wait, and those of another key are not affected", async () => {
  const turns = new RequestTurns(createMemoryRateLimiter(), 15);
  const ends = Array.from({ length: 50 }, () => endOf(turns.take("key", true, never)));
  expect(await endOf(turns.take("other", true, never))).toBe("passed");
  const counts = countOf(await Promise.all(ends));
  expect(counts).toEqual({ passed: 45, rate_limited: 5 });
});

test("a client that hangs up frees its place, and the requests behind it keep their order", async () => {
  const turns = new RequestTurns(createMemoryRateLimiter(), 1);
  await turns.take("key", true, never);
  const caller = new AbortController();
  const gone = endOf(turns.take("key", true, caller.signal));
  const next = endOf(turns.take("key", true, never));
  expect(await endOf(turns.take("key", true, never))).toBe("rate_limited");
  caller.abort("hung up");
  expect(await gone).toBe("hung up");
  const last = endOf(turns.take("key", true, never));
  expect([await next, await last]).toEqual(["passed", "passed"]);
});

test("processes that share a limiter keep the rate together, and a request without a turn in two seconds is refused", async () => {
  const limiter = createMemoryRateLimiter();
  const [one, other] = [new RequestTurns(limiter, 5), new RequestTurns(limiter, 5)];
  const startedAt = performance.now();
  const ends = [one, other].flatMap((turns) =>
    Array.from({ length: 10 }, () => endOf(turns.take("key", true, never))),
  );
  const counts = countOf(await Promise.all(ends));
  expect(counts).toEqual({ passed: 15, rate_limited: 5 });
  expect(performance.now() - startedAt).toBeLessThan(2500);
});

test("a request that may not wait is refused at once", async () => {
  const turns = new RequestTurns(createMemoryRateLimiter(), 1);
  const ends = [1, 2].map(() => endOf(turns.take("address", false, never)));
  expect(await Promise.all(ends)).toEqual(["passed", "rate_limited"]);
});

test("a failure of the limiter rejects the request and lets the next one try", async () => {
  const limiter = createMemoryRateLimiter();
  const turns = new RequestTurns(limiter, 1);
  await turns.take("key", true, never);
  await limiter.close();
  expect(await endOf(turns.take("key", true, never))).toMatch(/closed/);
});

test("close refuses the requests that wait, and a request leaves no listener on the signal of its caller", async () => {
  const turns = new RequestTurns(createMemoryRateLimiter(), 1);
  const { signal } = new AbortController();
  await turns.take("key", true, signal);
  const waited = endOf(turns.take("key", true, signal));
  expect(await waited).toBe("passed");
  const waiting = endOf(turns.take("key", true, signal));
  await new Promise(setImmediate);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  turns.close();
  expect(await waiting).toBe("unavailable");
  expect(getEventListeners(signal, "abort")).toEqual([]);
  expect(await endOf(turns.take("key", true, signal))).toBe("unavailable");
});
