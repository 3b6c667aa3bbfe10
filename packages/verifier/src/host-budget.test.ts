import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HostBudgets, type Session } from "./host-budget.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) });
});
afterEach(() => {
  vi.useRealTimers();
});

const BUDGET = { sessions: 2, questionsPerMinute: 10, maxWaitMs: 600_000 };
const SESSION_MS = 100;

/** A host whose sessions last 100 ms, and the names of the probes in the order of their turns. */
function createLine(budget: Partial<typeof BUDGET> = {}) {
  const budgets = new HostBudgets({ ...BUDGET, ...budget }, Date.now);
  const served: string[] = [];
  const refused: number[] = [];
  const waits = new Map<string, () => number>();
  const begunMs = Date.now();
  const servedAtS = new Map<string, number>();

  function take(name: string, questions = () => 1, signal = new AbortController().signal) {
    const [account = ""] = name.split(" ");
    return budgets
      .take("192.0.2.1", {
        ...{ account, questions, signal },
        onWait(waitMs) {
          if (waitMs === null) waits.delete(name);
          else waits.set(name, waitMs);
        },
      })
      .then((turn) => {
        if ("retryAfterMs" in turn) return refused.push(turn.retryAfterMs);
        served.push(name);
        servedAtS.set(name, Math.round((Date.now() - begunMs) / 1000));
        return setTimeout((each: Session) => each.end(), SESSION_MS, turn);
      });
  }
  return { take, served, refused, waits, servedAtS };
}

const names = (account: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${account} ${index + 1}`);

test("60 probes at once all get their turn, and at most the budget in any minute", async () => {
  const { take, served, servedAtS, refused } = createLine();
  for (const name of names("a", 60)) void take(name);
  await vi.advanceTimersByTimeAsync(301_000);
  expect(served).toEqual(names("a", 60));
  expect(refused).toEqual([]);
  const times = [...servedAtS.values()];
  for (const [index, second] of times.entries()) {
    const previous = times[index - 10];
    if (previous !== undefined) expect(second - previous).toBeGreaterThanOrEqual(59);
  }
  expect(vi.getTimerCount()).toBe(0);
});

test("the line serves accounts alternately, so a late account does not wait for a long list", async () => {
  const { take, served } = createLine({ questionsPerMinute: 30 });
  for (const name of names("bulk", 50)) void take(name);
  for (const name of names("late", 3)) void take(name);
  for (const name of names("other", 2)) void take(name);
  await vi.advanceTimersByTimeAsync(10_000);
  // The first two had free sessions.
  expect(served.slice(0, 10)).toEqual([
    ...["bulk 1", "bulk 2", "bulk 3", "late 1", "other 1"],
    ...["bulk 4", "late 2", "other 2", "bulk 5", "late 3"],
  ]);
});

test("the estimated wait is the time until the turn, as long as no other account arrives", async () => {
  const { take, waits, servedAtS } = createLine();
  for (const name of [...names("a", 30), ...names("b", 12)]) void take(name);
  await vi.advanceTimersByTimeAsync(2000);
  const expected = new Map([...waits].map(([name, waitMs]) => [name, 2 + waitMs() / 1000]));
  expect(expected.size).toBe(32);
  await vi.advanceTimersByTimeAsync(600_000);
  for (const [name, second] of expected) {
    expect(Math.abs((servedAtS.get(name) ?? 0) - second), name).toBeLessThanOrEqual(2);
  }
  expect(waits.size).toBe(0);
});

test("a host whose sessions are slow is part of the estimated wait", async () => {
  const { take, waits } = createLine({ sessions: 1, questionsPerMinute: 1000 });
  void take("a 1");
  await vi.advanceTimersByTimeAsync(SESSION_MS);
  for (const name of names("a", 21)) void take(name);
  expect(waits.get("a 21")?.()).toBe(20 * SESSION_MS);
});

test("a probe that needs no question any more leaves the line at once", async () => {
  const { take, served } = createLine();
  let questions = 2;
  for (const name of names("a", 50)) void take(name, () => questions);
  await vi.advanceTimersByTimeAsync(SESSION_MS - 1);
  expect(served).toEqual(["a 1", "a 2"]);
  questions = 0;
  await vi.advanceTimersByTimeAsync(1);
  expect(served).toEqual(names("a", 50));
});

test("a probe behind a line that is longer than maxWaitMs or 1000 probes gets a retry time at once", async () => {
  const { take, refused } = createLine();
  for (const name of names("a", 115)) void take(name);
  await vi.advanceTimersByTimeAsync(0);
  expect(refused).toEqual(Array.from({ length: 5 }, () => 660_000));
  const { take: takeOther, refused: other } = createLine({ questionsPerMinute: 1_000_000, sessions: 1 });
  for (const name of names("a", 1003)) void takeOther(name);
  await vi.advanceTimersByTimeAsync(0);
  expect(other).toEqual([1000, 1000]);
});

test("a probe whose signal aborts leaves the line, and the others move up", async () => {
  const { take, served, refused, waits } = createLine({ sessions: 1 });
  const controller = new AbortController();
  void take("a 1");
  void take("a 2", () => 1, controller.signal);
  void take("a 3");
  controller.abort();
  await vi.advanceTimersByTimeAsync(SESSION_MS);
  expect([served, refused, waits.size]).toEqual([["a 1", "a 3"], [1000], 0]);
  void take("a 4", () => 1, AbortSignal.abort());
  await vi.advanceTimersByTimeAsync(SESSION_MS);
  expect([served.length, refused.length]).toEqual([2, 2]);
});
