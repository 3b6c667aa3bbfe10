import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createPace } from "./pace.ts";

describe("createPace", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("bears with every rate for half a minute, and then no longer with a slow one", () => {
    const pace = createPace(1000);
    for (let seconds = 0; seconds <= 30; seconds += 2) {
      expect(pace.add(1), `after ${seconds} s`).toBe(true);
      vi.advanceTimersByTime(2000);
    }
    expect(pace.add(1)).toBe(false);
  });

  it("counts from the first byte", () => {
    const pace = createPace(1000);
    vi.advanceTimersByTime(3_600_000);
    expect(pace.add(1)).toBe(true);
    vi.advanceTimersByTime(30_000);
    expect(pace.add(1)).toBe(true);
  });

  it("goes by the average of all that has arrived", () => {
    const pace = createPace(1000);
    expect(pace.add(100_000)).toBe(true);
    vi.advanceTimersByTime(100_000);
    expect(pace.add(1)).toBe(true);
    vi.advanceTimersByTime(2);
    expect(pace.add(0)).toBe(false);
  });

  it("does not count the time in which we keep the sender waiting", () => {
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

  it("takes every rate where none is asked for", () => {
    const pace = createPace(0);
    pace.add(0);
    vi.advanceTimersByTime(3_600_000);
    expect(pace.add(0)).toBe(true);
  });
});
