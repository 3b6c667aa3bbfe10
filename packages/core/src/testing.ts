export type { ConformanceTest } from "./testing/conformance-test.ts";
