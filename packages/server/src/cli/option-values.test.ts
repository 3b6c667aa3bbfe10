import { expect, it } from "vitest";
import { parseAuthority, parseDeleteAfter, parseExpiry, parseLimit, parseReason } from "./option-values.ts";

it("takes a reason that the store takes", () => {
  expect(parseReason("x".repeat(1000))).toHaveLength(1000);
  for (const text of ["", " \n", "x".repeat(1001)]) expect(() => parseReason(text)).toThrow("1 to 1000");
});

it("takes the URL of an authority that a header can carry", () => {
  expect(parseAuthority("https://court.example/4711")).toBe("https://court.example/4711");
  for (const text of ["", "court.example", "ftp://court.example", "javascript:alert(1)"]) {
    expect(() => parseAuthority(text)).toThrow("absolute http(s) URL");
  }
});

it.each([
  ["2999-12-31", Date.UTC(2999, 11, 31)],
  ["2999-12-31T10:00Z", Date.UTC(2999, 11, 31, 10)],
  ["2999-12-31T10:00:30+01:00", Date.UTC(2999, 11, 31, 9, 0, 30)],
])("takes %s for a date", (text, ms) => {
  expect(parseDeleteAfter(text).getTime()).toBe(ms);
});

it("takes no date that is none, has no zone, or has passed", () => {
  for (const text of ["", "soon", "31.12.2999", "2999-02-29", "2999-12-31T10:00", "32503680000000"]) {
    expect(() => parseDeleteAfter(text)).toThrow("It must be a date");
  }
  expect(() => parseDeleteAfter("2020-01-01")).toThrow("in the future");
});

it("takes a limit from 1", () => {
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
])("takes %s for a while from now on", (text, ms) => {
  expect(parseExpiry(text, NOW).getTime()).toBe(NOW + ms);
});

it("takes dates, one without time for its beginning in UTC", () => {
  expect(parseExpiry("2999-12-31").getTime()).toBe(Date.UTC(2999, 11, 31));
  expect(parseExpiry("2999-12-31T10:00+01:00").getTime()).toBe(Date.UTC(2999, 11, 31, 9));
});

it("takes no while of nothing, of another unit, or beyond all dates", () => {
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
    "90s",
    `${"9".repeat(12)}w`,
  ]) {
    expect(() => parseExpiry(text, NOW), text).toThrow("It must be a while as 30m, 12h, 7d or 2w, or a date");
  }
});

it("takes no date that is none or has passed", () => {
  expect(() => parseExpiry("2999-02-29")).toThrow("It must be a date");
  expect(() => parseExpiry("2020-01-01")).toThrow("in the future");
});
