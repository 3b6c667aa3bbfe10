import { expect, it } from "vitest";
import { parseExpiry } from "./parse-expiry.ts";

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
