/** The `test` function of any runner: Vitest, Jest, Mocha, node:test. */
export type ConformanceTest = (name: string, body: () => Promise<void>) => void;
