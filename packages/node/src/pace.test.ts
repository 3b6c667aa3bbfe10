import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createPace } from "./pace.ts";

describe("createPace", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("accepts every rate for 30 s and then rejects a slow one", () => {
    const pace = createPace(1000);
    for (let seconds = 0; seconds <= 30; seconds += 2) {
      expect(pace.add(1), `after ${seconds} s`).toBe(true);
      vi.advanceTimersByTime(2000);
    }
    expect(pace.add(1)).toBe(false);
  });

  it("starts its clock with the first byte", () => {
    const pace = createPace(1000);
    vi.advanceTimersByTime(3_600_000);
    expect(pace.add(1)).toBe(true);
    vi.advanceTimersByTime(30_000);
    expect(pace.add(1)).toBe(true);
  });

  it("uses the average rate over the whole body", () => {
    const pace = createPace(1000);
    expect(pace.add(100_000)).toBe(true);
    vi.advanceTimersByTime(100_000);
    expect(pace.add(1)).toBe(true);
    vi.advanceTimersByTime(2);
    expect(pace.add(0)).toBe(false);
  });

  it("does not count the time between pause and resume", () => {
    const pace = createPace(1000);
    pace.add(1);
    pace.pause();
    vi.advanceTimersByTime(3_600_000);
    pace.resume();
    expect(pace.add(1)).toBe(true);
    vi.advanceTimersByTime(30_000);
    expect(pace.add(1)).toBe(true);
    vi.advanceTimersByTime(1);
    expect(pace.add(1)).toBe(false);
  });

  it("accepts every rate if the minimum is 0", () => {
    const pace = createPace(0);
    pace.add(0);
    vi.advanceTimersByTime(3_600_000);
    expect(pace.add(0)).toBe(true);
  });
});
