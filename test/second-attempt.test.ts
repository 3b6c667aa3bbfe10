import { expect, test } from "vitest";

// TypeScript knows no types of the scripts.
const { TestResults } = await import(new URL("../scripts/test-results.mjs", import.meta.url).href);

/** A file of Vitest's JSON report; each test by its title with its status. */
function suite(file: string, tests: Record<string, string>, message = "") {
  const assertionResults = Object.entries(tests).map(([fullName, status]) => ({
    fullName,
    status,
    failureMessages: status === "failed" ? [`Error: ${fullName} failed\n    at a line`] : [],
  }));
  const isFailed = message !== "" || Object.values(tests).includes("failed");
  return { name: `/project/${file}`, status: isFailed ? "failed" : "passed", message, assertionResults };
}

test("a test that fails and then passes alone counts as passed and is listed with its first error", () => {
  const results = new TestResults("/project");
  results.add([
    suite("a.test.ts", { one: "passed", two: "failed" }),
    suite("b.test.ts", { three: "passed" }),
  ]);
  expect(results).toMatchObject({ passed: 2, failed: ["a.test.ts > two"], failedAtFirst: 1, secondTime: [] });
  expect(results.failedFiles()).toEqual(["a.test.ts"]);
  results.repeat([suite("a.test.ts", { one: "passed", two: "passed" })]);
  expect(results).toMatchObject({
    passed: 3,
    failed: [],
    secondTime: ["a.test.ts > two\n    Error: two failed"],
  });
});

test("a test that fails in both attempts stays failed, also beside one that then passes", () => {
  const results = new TestResults("/project");
  results.add([suite("a.test.ts", { one: "failed", two: "failed", three: "skipped" })]);
  results.repeat([suite("a.test.ts", { one: "failed", two: "passed", three: "skipped" })]);
  expect(results).toMatchObject({ passed: 1, failed: ["a.test.ts > one"], skipped: ["a.test.ts > three"] });
  expect(results.secondTime).toHaveLength(1);
});

test("a test that fails only in the second attempt counts as failed", () => {
  const results = new TestResults("/project");
  results.add([suite("a.test.ts", { one: "passed", two: "failed" })]);
  results.repeat([suite("a.test.ts", { one: "failed", two: "passed" })]);
  expect(results.failed).toEqual(["a.test.ts > one"]);
});

test("a file that could not be loaded stays failed without a result, and is good once all its tests pass", () => {
  const results = new TestResults("/project");
  results.add([
    suite("a.test.ts", { one: "skipped" }, "Error: a hook\nmore"),
    suite("b.test.ts", {}, "Error: no such module"),
  ]);
  expect(results.failed).toEqual(["a.test.ts", "b.test.ts"]);
  results.repeat([suite("a.test.ts", { one: "passed" })]);
  expect(results).toMatchObject({
    passed: 1,
    failed: ["b.test.ts"],
    skipped: [],
    secondTime: ["a.test.ts\n    Error: a hook"],
  });
});

test("tests of the same title are counted one by one", () => {
  const results = new TestResults("/project");
  const { name, status, message, assertionResults } = suite("a.test.ts", { one: "passed" });
  results.add([
    { name, status, message, assertionResults: [...assertionResults, { ...assertionResults[0] }] },
  ]);
  expect(results.passed).toBe(2);
});
