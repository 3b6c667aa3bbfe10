import { expect, it } from "vitest";
import { parseAuthority, parseDeleteAfter, parseExpiry, parseLimit, parseReason } from "./option-values.ts";

it("--reason accepts 1 to 1000 characters that are not all blank", () => {
  expect(parseReason("x".repeat(1000))).toHaveLength(1000);
  for (const text of ["", " \n", "x".repeat(1001)]) expect(() => parseReason(text)).toThrow("1 to 1000");
});

it("--authority accepts only absolute http(s) URLs", () => {
  expect(parseAuthority("https://court.example/4711")).toBe("https://court.example/4711");
  for (const text of ["", "court.example", "ftp://court.example", "javascript:alert(1)"]) {
    expect(() => parseAuthority(text)).toThrow("absolute http(s) URL");
  }
});

it.each([
  ["2999-12-31", Date.UTC(2999, 11, 31)],
  ["2999-12-31T10:00Z", Date.UTC(2999, 11, 31, 10)],
  ["2999-12-31T10:00:30+01:00", Date.UTC(2999, 11, 31, 9, 0, 30)],
])("--delete-after accepts the date %s", (text, ms) => {
  expect(parseDeleteAfter(text).getTime()).toBe(ms);
});

it("--delete-after rejects dates that are invalid, have no zone, or are in the past", () => {
  for (const text of ["", "soon", "31.12.2999", "2999-02-29", "2999-12-31T10:00", "32503680000000"]) {
    expect(() => parseDeleteAfter(text)).toThrow("It must be a date");
  }
  expect(() => parseDeleteAfter("2020-01-01")).toThrow("in the future");
});

it("--limit accepts whole numbers from 1", () => {
  expect(parseLimit("1")).toBe(1);
  for (const text of ["0", "-1", "1.5", "1e3", " 1", "", "9".repeat(16)]) {
    expect(() => parseLimit(text)).toThrow("whole number from 1");
  }
});

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const HOUR_MS = 3_600_000;

it.each([
  ["30m", HOUR_MS / 2],
  ["12h", 12 * HOUR_MS],
  ["7d", 7 * 24 * HOUR_MS],
  ["2w", 14 * 24 * HOUR_MS],
])("--expires accepts the duration %s", (text, ms) => {
  expect(parseExpiry(text, NOW)).toEqual(new Date(NOW + ms));
});

it("--expires accepts dates and never; a date without a time starts at 00:00 UTC", () => {
  expect(parseExpiry("2999-12-31")).toEqual(new Date(Date.UTC(2999, 11, 31)));
  expect(parseExpiry("2999-12-31T10:00+01:00")).toEqual(new Date(Date.UTC(2999, 11, 31, 9)));
  expect(parseExpiry("never")).toBe("never");
});

it("--expires rejects durations that are zero, have an unknown unit, or exceed the largest date", () => {
  for (const text of [
    "",
    "0m",
    "0d",
    "7",
    "d",
    "-7d",
    "1.5h",
    "7 d",
    "7D",
    "1y",
    "90x",
    `${"9".repeat(12)}w`,
  ]) {
    expect(() => parseExpiry(text, NOW), text).toThrow(
      "It must be a duration such as 30m, 12h, 7d or 2w, or a date",
    );
  }
});

it("--expires rejects dates that are invalid or in the past", () => {
  expect(() => parseExpiry("2999-02-29")).toThrow("It must be a date");
  expect(() => parseExpiry("2020-01-01")).toThrow("in the future");
});
