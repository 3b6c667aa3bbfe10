import { getEventListeners } from "node:events";
import { beforeEach, expect, test } from "vitest";
import { pass, stopTime } from "../../../test/stopped-time.ts";
import { createMemoryRateLimiter } from "../../stores/memory/memory-rate-limiter.ts";
import { RequestTurns } from "./request-turns.ts";

const never = new AbortController().signal;

beforeEach(stopTime);

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
  const passed: number[] = [];
  for (let index = 0; index < 25; index++) void turns.take("key", true, never).then(() => passed.push(index));
  for (const count of [10, 20, 25]) {
    await pass(990);
    expect(passed).toEqual(Array.from({ length: count }, (_, index) => index));
    await pass(10);
  }
});

test("at most 30 requests of a key wait, and those of another key are not affected", async () => {
  const turns = new RequestTurns(createMemoryRateLimiter(), 15);
  const ends = Array.from({ length: 50 }, () => endOf(turns.take("key", true, never)));
  expect(await endOf(turns.take("other", true, never))).toBe("passed");
  await pass(2100);
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
  await pass(2100);
  expect([await next, await last]).toEqual(["passed", "passed"]);
});

test("processes that share a limiter keep the rate together, and a request without a turn in two seconds is refused", async () => {
  const limiter = createMemoryRateLimiter();
  const [one, other] = [new RequestTurns(limiter, 5), new RequestTurns(limiter, 5)];
  const ends = [one, other].flatMap((turns) =>
    Array.from({ length: 10 }, () => endOf(turns.take("key", true, never))),
  );
  await pass(2100);
  const counts = countOf(await Promise.all(ends));
  expect(counts).toEqual({ passed: 15, rate_limited: 5 });
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
  await pass(1000);
  expect(await waited).toBe("passed");
  const waiting = endOf(turns.take("key", true, signal));
  await new Promise(setImmediate);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  turns.close();
  expect(await waiting).toBe("unavailable");
  expect(getEventListeners(signal, "abort")).toEqual([]);
  expect(await endOf(turns.take("key", true, signal))).toBe("unavailable");
});
