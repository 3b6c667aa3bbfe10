import { expect, test } from "vitest";
import { parseDate } from "./parse-date.ts";

const noon = Date.UTC(2030, 0, 31, 12);

test("parseDate parses ISO 8601 dates with a zone, and nothing else", () => {
  for (const [value, expected] of [
    ["2030-01-31T12:00:00.000Z", noon],
    ["2030-01-31T12:00:00Z", noon],
    ["2030-01-31T12:00Z", noon],
    ["2030-01-31T13:00:00+01:00", noon],
    ["2030-01-31T13:00:00+0100", noon],
    ["2030-01-31T12:00:00.5Z", noon + 500],
    ["2030-01-31T12:00:00,5Z", noon + 500],
    [" 2030-01-31T12:00:00Z ", noon],
    ["2030-01-31T12:00:00", null],
    ["2030-01-31", null],
    ["2030-02-31T12:00:00Z", null],
    ["2030-02-29T12:00:00Z", null],
    ["2032-02-29T12:00:00Z", Date.UTC(2032, 1, 29, 12)],
    ["2030-13-01T12:00:00Z", null],
    ["2030-00-01T12:00:00Z", null],
    ["2030-01-31T25:00:00Z", null],
    ["2030-01-31T12:60:00Z", null],
    ["tomorrow", null],
    ["", null],
    [true, null],
    [{}, null],
  ] as const) {
    expect(parseDate(value, false), JSON.stringify(value)).toBe(expected);
  }
});

test("numbers and digits are accepted only with allowNumber", () => {
  expect(parseDate(1_900_000_000_000, true)).toBe(1_900_000_000_000);
  expect(parseDate("1900000000000", true)).toBe(1_900_000_000_000);
  expect(parseDate(1_900_000_000_000, false)).toBeNull();
  expect(parseDate("1900000000000", false)).toBeNull();
  expect(parseDate(1.5, true)).toBeNull();
  expect(parseDate(Number.NaN, true)).toBeNull();
  expect(parseDate("9999999999999999", true)).toBeNull();
});
