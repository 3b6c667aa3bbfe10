import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createMemoryRateLimiter } from "../../stores/memory/memory-rate-limiter.ts";
import { RenderBudget } from "./render-gate.ts";

const crowd = () => true;
const alone = () => false;
const REFUSED = { code: "rate_limited", message: expect.stringContaining("Stored sizes are still served") };

let limiter = createMemoryRateLimiter();
let errors: unknown[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  limiter = createMemoryRateLimiter();
  errors = [];
});
afterEach(async () => {
  vi.useRealTimers();
  await limiter.close();
  expect(errors).toEqual([]);
});

function budgetOf(cpuSeconds: number | null) {
  const budget = new RenderBudget({ limiter, cpuSeconds, onError: (error) => errors.push(error) });
  return {
    require: (client: string, othersWait: () => boolean) => budget.require(client, othersWait),
    async charge(client: string, cpuMs: number) {
      budget.charge(client, cpuMs);
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

describe("a client with a budget of 20 CPU seconds per minute", () => {
  test("is rejected after 20 s while another client waits, until the minute is over", async () => {
    const budget = budgetOf(20);
    await budget.charge("a", 19_999.2);
    await vi.advanceTimersByTimeAsync(15_000);
    await expect(budget.require("a", crowd)).rejects.toMatchObject({ ...REFUSED, retryAfterMs: 45_000 });
    await budget.require("a", alone);
    await budget.require("b", crowd);
    await vi.advanceTimersByTimeAsync(45_000);
    await budget.require("a", crowd);
  });

  test("is rejected after 100 s even while no other client waits", async () => {
    const budget = budgetOf(20);
    await budget.charge("a", 99_999);
    await budget.require("a", alone);
    // More than is left, so the rest is charged.
    await budget.charge("a", 10_000);
    await expect(budget.require("a", alone)).rejects.toMatchObject(REFUSED);
    await budget.charge("a", 10_000);
    await vi.advanceTimersByTimeAsync(60_000);
    await budget.require("a", crowd);
  });
});

test("a cost over five budgets uses up all five", async () => {
  const budget = budgetOf(1);
  await budget.charge("a", 600_000);
  await expect(budget.require("a", alone)).rejects.toMatchObject(REFUSED);
});

test("two processes with one limiter share the budget of a client", async () => {
  const [here, there] = [budgetOf(2), budgetOf(2)];
  await here.charge("a", 1_000);
  await there.charge("a", 1_000);
  await expect(here.require("a", crowd)).rejects.toMatchObject(REFUSED);
});

test("without a budget nothing is charged", async () => {
  const budget = budgetOf(null);
  await budget.charge("a", 1e9);
  await budget.require("a", crowd);
  const rule = { limit: 1, windowMs: 60_000 };
  expect(await limiter.peek("renders:a", rule)).toMatchObject({ remaining: 1 });
});

describe("the budgets above a client", () => {
  const in48 = (n: number) => `2001:db8:1:${n}::/64`;
  const inIPv4 = (n: number) => `198.18.0.${n}`;

  test("one /48 has eight budgets, and its use refuses no client of another network", async () => {
    const budget = budgetOf(1);
    for (let n = 0; n < 8; n++) await budget.charge(in48(n), 999);
    await budget.require(in48(99), crowd);
    await budget.charge(in48(8), 8);
    await expect(budget.require(in48(99), crowd)).rejects.toMatchObject(REFUSED);
    await budget.require(in48(99), alone);
    await budget.require("2001:db8:2:0::/64", crowd);
    await budget.require("203.0.113.7", crowd);
  });

  test("one /48 is refused after 40 budgets even while no other client waits", async () => {
    const budget = budgetOf(1);
    for (let n = 0; n < 8; n++) await budget.charge(in48(n), 5_000);
    await expect(budget.require(in48(99), alone)).rejects.toMatchObject(REFUSED);
  });

  test("after 100 budgets of all clients only networks that used none this minute are served while others wait", async () => {
    const budget = budgetOf(1);
    for (let n = 0; n < 100; n++) await budget.charge(inIPv4(n), 1_000);
    await budget.charge("203.0.113.7", 1);
    await expect(budget.require("203.0.113.7", crowd)).rejects.toMatchObject(REFUSED);
    await budget.require("203.0.113.7", alone);
    await budget.require("203.0.113.8", crowd);
    await budget.require("2001:db8:1:0::/64", crowd);
  });

  test("an owner has its own budget only, also if it is named like an address", async () => {
    const budget = budgetOf(1);
    for (let n = 0; n < 100; n++) {
      await budget.charge(`owner 192.0.2.${n}`, 5_000);
      await budget.charge(`owner ${in48(n)}`, 5_000);
    }
    await budget.charge("203.0.113.7", 1);
    await budget.charge(in48(0), 1);
    await budget.require("203.0.113.7", crowd);
    await budget.require(in48(0), crowd);
  });
});
