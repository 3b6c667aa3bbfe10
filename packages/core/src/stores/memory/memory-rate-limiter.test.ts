import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { rateLimiterContract } from "@outrigger/testing";
import { expect, test } from "vitest";
import { createMemoryRateLimiter, MemoryLimiter } from "./memory-rate-limiter.ts";

const MINUTE = { limit: 1, windowMs: 60_000 };

rateLimiterContract(test, async () => createMemoryRateLimiter());

test("the memory limiter keeps at most maxKeys keys, and drops the windows that began first", async () => {
  const limiter = new MemoryLimiter(100);
  for (let key = 0; key < 250; key++) await limiter.consume(`${key}`, MINUTE);
  const remembered: number[] = [];
  for (let key = 0; key < 250; key++) {
    if (!(await limiter.peek(`${key}`, MINUTE)).allowed) remembered.push(key);
  }
  assert.deepEqual(
    remembered,
    Array.from({ length: 100 }, (_, index) => index + 150),
  );
  await limiter.close();
});

test("the memory limiter applies maxKeys to each rule separately", async () => {
  const limiter = new MemoryLimiter(2);
  const other = { limit: 2, windowMs: 60_000 };
  for (const key of ["a", "b"]) await limiter.consume(key, MINUTE);
  for (const key of ["c", "d", "e"]) await limiter.consume(key, other);
  assert.equal((await limiter.peek("a", MINUTE)).allowed, false);
  await limiter.close();
});

test("the memory limiter counts a hundred thousand keys within 100 MB", async () => {
  const script = `
    import { createMemoryRateLimiter } from "@outrigger/core";
    const limiter = createMemoryRateLimiter();
    globalThis.gc();
    const before = process.memoryUsage().heapUsed;
    for (let key = 0; key < 150_000; key++) await limiter.consume("client-" + key, { limit: 9, windowMs: 60_000 });
    globalThis.gc();
    console.log(process.memoryUsage().heapUsed - before);
    // Still in use, so its keys were not collected.
    await limiter.close();
  `;
  const bytes = Number(await run(["--expose-gc", "--input-type=module", "--eval", script]));
  assert.ok(bytes > 1e6 && bytes < 100e6, `${bytes} bytes`);
});

test("the memory limiter keeps no process alive", async () => {
  const script = `
    import { createMemoryRateLimiter } from "@outrigger/core";
    const limiter = createMemoryRateLimiter();
    await limiter.consume("a", { limit: 1, windowMs: 600_000 });
    console.log((await limiter.peek("a", { limit: 1, windowMs: 600_000 })).allowed);
  `;
  assert.equal(await run(["--input-type=module", "--eval", script]), "false\n");
});

test("the memory limiter rejects invalid rules and costs with a TypeError", async () => {
  const limiter = createMemoryRateLimiter();
  for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    await expect(limiter.consume("a", { limit: value, windowMs: 1000 })).rejects.toThrow(TypeError);
    await expect(limiter.peek("a", { limit: 1, windowMs: value })).rejects.toThrow(TypeError);
    await expect(limiter.consume("a", MINUTE, value)).rejects.toThrow(TypeError);
    await expect(limiter.refund("a", MINUTE, value)).rejects.toThrow(TypeError);
  }
  // Node would run a timer of this length after 1 ms, which would end the window.
  await expect(limiter.consume("a", { limit: 1, windowMs: 2 ** 31 })).rejects.toThrow(TypeError);
  await limiter.consume("a", { limit: 1, windowMs: 2 ** 31 - 1 });
  await limiter.close();
});

test("the memory limiter answers valid calls while another is rejected for an invalid rule", async () => {
  const limiter = createMemoryRateLimiter();
  const results = await Promise.allSettled([
    limiter.consume("a", MINUTE),
    limiter.consume("a", { limit: 0, windowMs: 1 }),
    limiter.consume("a", MINUTE),
  ]);
  assert.deepEqual(
    results.map((result) => (result.status === "fulfilled" ? result.value.allowed : result.reason.name)),
    [true, "TypeError", false],
  );
  await limiter.close();
});

/** Runs Node until it exits, and returns its output. */
async function run(args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  return stdout;
}
