import { expect, test } from "vitest";
import { ClockGuard } from "./clock-guard.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A guard over clocks that a test controls: passing time moves both, `set` moves only the wall clock. */
function guarded(seenMs: number | null = null) {
  let wall = Date.parse("2026-03-01T12:00:00.000Z");
  let passed = 5000;
  const guard = new ClockGuard(
    () => wall,
    () => passed,
  );
  if (seenMs !== null) guard.recall(seenMs);
  return {
    guard,
    pass(ms: number) {
      wall += ms;
      passed += ms;
    },
    set(byMs: number) {
      wall += byMs;
    },
  };
}

test("the guard trusts a clock that agrees with the elapsed time, however rarely it is checked", () => {
  const { guard, pass } = guarded();
  for (const ms of [0, 1, MINUTE, 30 * 24 * HOUR]) {
    pass(ms);
    expect(guard.isTrusted()).toBe(true);
  }
});

test("a process that starts more than a day after the last trusted time waits for an hour", () => {
  const noon = Date.parse("2026-03-01T12:00:00.000Z");
  const { guard, pass } = guarded(noon - 25 * HOUR);
  for (let minute = 0; minute < 60; minute++) {
    expect(guard.isTrusted()).toBe(false);
    pass(MINUTE);
  }
  expect(guard.isTrusted()).toBe(true);
  for (const seenMs of [noon - 23 * HOUR, noon, noon + 10 * HOUR]) {
    expect(guarded(seenMs).guard.isTrusted()).toBe(true);
  }
});

test("a jump of two minutes ahead is trusted after an hour", () => {
  const { guard, pass, set } = guarded();
  set(2 * MINUTE);
  expect(guard.isTrusted()).toBe(false);
  for (let minute = 1; minute < 60; minute++) {
    pass(MINUTE);
    expect(guard.isTrusted()).toBe(false);
  }
  pass(MINUTE);
  expect(guard.isTrusted()).toBe(true);
  expect(guard.isTrusted()).toBe(true);
});

test("an hour without a check does not count as probation", () => {
  const { guard, pass, set } = guarded();
  set(2 * MINUTE);
  pass(5 * HOUR);
  expect(guard.isTrusted()).toBe(false);
});

test("a second jump restarts the hour", () => {
  const { guard, pass, set } = guarded();
  set(2 * MINUTE);
  expect(guard.isTrusted()).toBe(false);
  pass(59 * MINUTE);
  set(10 * MINUTE);
  expect(guard.isTrusted()).toBe(false);
  pass(2 * MINUTE);
  expect(guard.isTrusted()).toBe(false);
  pass(58 * MINUTE);
  expect(guard.isTrusted()).toBe(true);
});

test("a clock that is set back to the right time is trusted at once, and its next jump is not", () => {
  const { guard, pass, set } = guarded();
  set(365 * 24 * HOUR);
  expect(guard.isTrusted()).toBe(false);
  pass(MINUTE);
  set(-365 * 24 * HOUR);
  expect(guard.isTrusted()).toBe(true);
  pass(59 * MINUTE);
  set(2 * MINUTE);
  expect(guard.isTrusted()).toBe(false);
});

test("a clock that is set back is trusted, and not trusted when it is set forward again", () => {
  const { guard, set } = guarded();
  set(-2 * HOUR);
  expect(guard.isTrusted()).toBe(true);
  set(2 * HOUR);
  expect(guard.isTrusted()).toBe(false);
});

test("a clock that drifts, or is set by less than a minute, stays trusted", () => {
  const { guard, pass, set } = guarded();
  for (let look = 0; look < 100; look++) {
    pass(MINUTE);
    set(50_000);
    expect(guard.isTrusted()).toBe(true);
  }
});
