import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { backoffMs, obeyedMs, parseRetryAfter, waitFor } from "./waiting.ts";

test("backoffMs doubles with each try up to 30 s, and half of it is random", () => {
  for (const [tries, most] of [
    [1, 500],
    [2, 1000],
    [3, 2000],
    [4, 4000],
    [20, 30_000],
    [2000, 30_000],
  ] as const) {
    const waits = Array.from({ length: 200 }, () => backoffMs(tries));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(most / 2);
    expect(Math.max(...waits)).toBeLessThanOrEqual(most);
    expect(new Set(waits).size).toBeGreaterThan(100);
  }
});

test("obeyedMs is never shorter than Retry-After, and at most 1 s longer", () => {
  for (const asked of [0, 1000, 5000, 60_000]) {
    const waits = Array.from({ length: 200 }, () => obeyedMs(asked));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(Math.max(100, asked));
    expect(Math.max(...waits)).toBeLessThanOrEqual(Math.max(100, asked) + Math.min(1000, asked / 10));
  }
});

describe("waitFor", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("resolves after its time and removes its listener from the signal", async () => {
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, "removeEventListener");
    const wait = waitFor(1000, signal);
    await vi.advanceTimersByTimeAsync(999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    await wait;
    expect(remove).toHaveBeenCalledOnce();
  });

  test("rejects with the reason as soon as the signal aborts", async () => {
    const abort = new AbortController();
    const reason = new Error("enough");
    const wait = waitFor(1000, abort.signal);
    abort.abort(reason);
    await expect(wait).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
    await expect(waitFor(1000, abort.signal)).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
  });
});

const NOW = Date.parse("2026-03-01T12:00:00Z");

test.each<[string, Record<string, string>, number | null]>([
  ["whole seconds", { "Retry-After": "120" }, 120_000],
  ["none", { "Retry-After": " 0 " }, 0],
  ["a date", { "Retry-After": "Sun, 01 Mar 2026 12:00:30 GMT" }, 30_000],
  ["an old form of date", { "Retry-After": "Sunday, 01-Mar-26 12:00:30 GMT" }, 30_000],
  ["a date in the past", { "Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT" }, 0],
  [
    "a date of a wrong clock",
    { "Retry-After": "Mon, 01 Mar 2027 00:00:05 GMT", Date: "Mon, 01 Mar 2027 00:00:00 GMT" },
    5000,
  ],
  ["nothing", {}, null],
  ["an empty value", { "Retry-After": "" }, null],
  ["a fraction", { "Retry-After": "1.5" }, null],
  ["a negative number", { "Retry-After": "-1" }, null],
  ["words", { "Retry-After": "soon" }, null],
  ["an invalid date", { "Retry-After": "Sun, 99 Foo 2026 12:00:30 GMT" }, null],
])("parseRetryAfter reads %s", (_what, headers, expected) => {
  expect(parseRetryAfter(new Headers(headers), NOW)).toBe(expected);
});
