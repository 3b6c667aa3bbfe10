import { describe, expect, test } from "vitest";
import { evaluatePreconditions, ifRangeHolds, parseHttpDate } from "./conditional.ts";

const current = {
  etag: '"abc"',
  lastModifiedMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
};
const same = "Fri, 02 Jan 2026 03:04:05 GMT";
const before = "Fri, 02 Jan 2026 03:04:04 GMT";
const after = "Fri, 02 Jan 2026 03:04:06 GMT";
const clock = "Mon, 05 Jan 2026 00:00:00 GMT";
const late = "Mon, 05 Jan 2026 00:00:01 GMT";
const evaluate = (headers: Record<string, string>, method = "GET") =>
  evaluatePreconditions(method, headers, current, Date.parse(clock) + 999);

describe("the preconditions of a GET request (RFC 9110 §13.2.2)", () => {
  test.each([
    ["no condition", {}, "proceed"],
    [
      "If-Modified-Since equal to Last-Modified, to the second",
      { "if-modified-since": same },
      "not_modified",
    ],
    ["a later If-Modified-Since", { "if-modified-since": after }, "not_modified"],
    ["an If-Modified-Since equal to the clock", { "if-modified-since": clock }, "not_modified"],
    ["an If-Modified-Since later than the clock, which is ignored", { "if-modified-since": late }, "proceed"],
    [
      "If-None-Match beside an If-Modified-Since later than the clock",
      { "if-none-match": '"abc"', "if-modified-since": late },
      "not_modified",
    ],
    ["an If-Unmodified-Since later than the clock", { "if-unmodified-since": late }, "proceed"],
    ["an earlier If-Modified-Since", { "if-modified-since": before }, "proceed"],
    ["a malformed If-Modified-Since, which is ignored", { "if-modified-since": "yesterday" }, "proceed"],
    ["an ISO date, which is not an HTTP date", { "if-modified-since": "2026-01-03T00:00:00Z" }, "proceed"],
    ["an HTTP date in asctime form", { "if-modified-since": "Fri Jan  2 03:04:05 2026" }, "not_modified"],
    [
      "an HTTP date in RFC 850 form",
      { "if-modified-since": "Friday, 02-Jan-26 03:04:05 GMT" },
      "not_modified",
    ],
    ["If-None-Match with the current tag", { "if-none-match": '"abc"' }, "not_modified"],
    ["If-None-Match with the weak form of the current tag", { "if-none-match": 'W/"abc"' }, "not_modified"],
    ["If-None-Match with the current tag in a list", { "if-none-match": '"x", W/"y","abc"' }, "not_modified"],
    ["If-None-Match with a comma in a tag", { "if-none-match": '"x,y", "abc"' }, "not_modified"],
    ["If-None-Match *", { "if-none-match": "*" }, "not_modified"],
    ["If-None-Match without quotes", { "if-none-match": "abc" }, "proceed"],
    [
      "If-None-Match, which takes precedence over If-Modified-Since",
      { "if-none-match": '"x"', "if-modified-since": after },
      "proceed",
    ],
    ["If-Match with the current tag", { "if-match": '"abc"' }, "proceed"],
    ["If-Match *", { "if-match": "*" }, "proceed"],
    ["If-Match with another tag", { "if-match": '"x"' }, "failed"],
    ["If-Match, which compares strongly", { "if-match": 'W/"abc"' }, "failed"],
    ["an earlier If-Unmodified-Since", { "if-unmodified-since": before }, "failed"],
    ["an equal If-Unmodified-Since", { "if-unmodified-since": same }, "proceed"],
    [
      "If-Match, which takes precedence over If-Unmodified-Since",
      { "if-match": '"abc"', "if-unmodified-since": before },
      "proceed",
    ],
    [
      "If-None-Match after a fulfilled If-Match",
      { "if-match": '"abc"', "if-none-match": '"abc"' },
      "not_modified",
    ],
  ])("%s, headers %j, give the outcome %s", (_title, headers, expected) => {
    expect(evaluate(headers)).toBe(expected);
  });

  test("a write with a matching If-None-Match fails, and If-Modified-Since is ignored", () => {
    expect(evaluate({ "if-none-match": "*" }, "PATCH")).toBe("failed");
    expect(evaluate({ "if-modified-since": after }, "DELETE")).toBe("proceed");
  });
});

describe("an If-Range header", () => {
  test.each([
    ["no value", {}, true],
    ["the current tag", { "if-range": '"abc"' }, true],
    ["the weak form of the current tag", { "if-range": 'W/"abc"' }, false],
    ["another tag", { "if-range": '"x"' }, false],
    ["the exact date", { "if-range": same }, true],
    ["a later date", { "if-range": after }, false],
    ["nonsense", { "if-range": "?" }, false],
  ])("with %s, headers %j, allows a partial answer: %s", (_title, headers, expected) => {
    expect(ifRangeHolds(headers, current)).toBe(expected);
  });
});

test("parseHttpDate returns whole seconds", () => {
  expect(parseHttpDate("Thu, 01 Jan 1970 00:00:10 GMT")).toBe(10);
  expect(parseHttpDate("Thu, 99 Foo 1970 00:00:10 GMT")).toBeNull();
});
