import { expect, test } from "vitest";
import { chooseRange } from "./conditional.ts";

test.each([
  [undefined, "whole"],
  ["bytes=0-0", { start: 0, end: 0 }],
  ["bytes=10-", { start: 10, end: 99 }],
  ["bytes=-5", { start: 95, end: 99 }],
  ["bytes=90-1000", { start: 90, end: 99 }],
  ["bytes=-1000", { start: 0, end: 99 }],
  ["bytes=100-", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=5-1", "whole"],
  ["bytes=-", "whole"],
  ["bytes=a-b", "whole"],
  ["Bytes=1-2", { start: 1, end: 2 }],
  ["bytes=0-1,50-51", "whole"],
  ["items=0-1", "whole"],
  ["bytes", "whole"],
])("Range: %s of a 100-byte body gives the expected range", (header, expected) => {
  expect(chooseRange(header, 100)).toEqual(expected);
});

test("a range of an empty body cannot be satisfied", () => {
  expect(chooseRange("bytes=0-0", 0)).toBe("unsatisfiable");
  expect(chooseRange("bytes=-1", 0)).toBe("unsatisfiable");
});
