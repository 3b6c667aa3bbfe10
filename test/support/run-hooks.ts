import { afterAll, afterEach } from "vitest";
import { hooks } from "./hooks.ts";

// Vitest runs this file before each test file.
afterEach(() => runAll(hooks.test));
afterAll(() => runAll(hooks.file));

async function runAll(registered: Iterable<() => unknown>): Promise<void> {
  for (const hook of registered) await hook();
}
