import { afterEach, beforeEach, expect, vi } from "vitest";

/** Lets each test of a file fail during which this process prints something, or warns. */
export function expectSilence(): void {
  const printed: unknown[] = [];
  const remember = (...words: unknown[]) => void printed.push(words);
  beforeEach(() => {
    printed.length = 0;
    process.on("warning", remember);
    for (const method of ["log", "info", "warn", "error", "debug"] as const) {
      vi.spyOn(console, method).mockImplementation(remember);
    }
  });
  afterEach(() => {
    process.off("warning", remember);
    vi.restoreAllMocks();
    expect(printed).toEqual([]);
  });
}
