import { expect, it } from "vitest";
import { parseAuthority, parseDeleteAfter, parseReason } from "./option-values.ts";

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
