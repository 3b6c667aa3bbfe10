// Test files of one worker share the modules of helpers, so `afterEach` in a helper would serve only the file that imports it
// first. Helpers register their hooks here; run-hooks.ts runs them for every file.

type Hook = () => unknown;

export const hooks: Record<"test" | "file", Set<Hook>> = { test: new Set(), file: new Set() };

/** Runs `hook` after each test of every file, also after a failed one. */
export function afterEachTest(hook: Hook): void {
  hooks.test.add(hook);
}

/** Runs `hook` after the last test of every file. */
export function afterEachFile(hook: Hook): void {
  hooks.file.add(hook);
}
