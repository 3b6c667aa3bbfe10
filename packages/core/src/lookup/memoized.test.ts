import { expect, test } from "vitest";
import { memoized } from "./memoized.ts";

test("a memoized function computes the result of a text once, and keeps at most 5,000 results", () => {
  const computed: string[] = [];
  const length = memoized((text) => {
    computed.push(text);
    return text.length;
  });
  expect([length("ada"), length("grace"), length("ada"), length("")]).toEqual([3, 5, 3, 0]);
  expect(computed).toEqual(["ada", "grace", ""]);
  for (let index = 0; index < 4998; index++) length(`name ${index}`);
  expect(length("ada")).toBe(3);
  expect(computed.filter((text) => text === "ada")).toHaveLength(2);
});
