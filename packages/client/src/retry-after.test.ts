import { expect, test } from "vitest";
import { parseRetryAfter } from "./retry-after.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

test.each<[string, Record<string, string>, number | null]>([
  ["whole seconds", { "Retry-After": "120" }, 120_000],
  ["none", { "Retry-After": " 0 " }, 0],
  ["a date", { "Retry-After": "Sun, 01 Mar 2026 12:00:30 GMT" }, 30_000],
  ["an old form of date", { "Retry-After": "Sunday, 01-Mar-26 12:00:30 GMT" }, 30_000],
  ["a date in the past", { "Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT" }, 0],
  [
    "a date of a wrong clock",
    { "Retry-After": "Mon, 01 Mar 2027 00:00:05 GMT", Date: "Mon, 01 Mar 2027 00:00:00 GMT" },
    5000,
  ],
  ["nothing", {}, null],
  ["an empty value", { "Retry-After": "" }, null],
  ["a fraction", { "Retry-After": "1.5" }, null],
  ["a negative number", { "Retry-After": "-1" }, null],
  ["words", { "Retry-After": "soon" }, null],
  ["an invalid date", { "Retry-After": "Sun, 99 Foo 2026 12:00:30 GMT" }, null],
])("parseRetryAfter reads %s", (_what, headers, expected) => {
  expect(parseRetryAfter(new Headers(headers), NOW)).toBe(expected);
});
