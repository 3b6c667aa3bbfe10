import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./longest-first.ts";

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Many of them wait for processes and clocks: one for each core, where Vitest would leave one idle.
    maxWorkers: Math.max(2, availableParallelism()),
    sequence: { sequencer: LongestFirst },
  },
});
