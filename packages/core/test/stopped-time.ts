import { createRequire, syncBuiltinESMExports } from "node:module";
import { vi } from "vitest";
import { afterEachTest } from "../../../test/support/hooks.ts";

const timers: typeof import("node:timers/promises") = createRequire(import.meta.url)("node:timers/promises");
let isStopped = false;

/** Until the end of the test, time passes by {@link pass} alone: waits are exact, however busy the machine is. */
export function stopTime(): void {
  isStopped = true;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  // The fake timers of Vitest do not cover this module.
  vi.spyOn(timers, "setTimeout").mockImplementation((ms, value, { signal } = {}) => {
    return new Promise((resolve, reject) => {
      setTimeout(resolve, ms, value);
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  });
  syncBuiltinESMExports();
}

export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

afterEachTest(() => {
  if (!isStopped) return;
  isStopped = false;
  vi.restoreAllMocks();
  vi.useRealTimers();
  syncBuiltinESMExports();
});
