import "../test/english.ts";
import { describe, expect, it } from "vitest";
import { timeLeftText } from "./time-left.ts";

describe("timeLeftText", () => {
  const now = Date.parse("2025-11-20T12:00:00.000Z");
  const minute = 60_000;
  const hour = 60 * minute;
  it.each([
    [-1, "expired"],
    [0, "expired"],
    [1, "less than a minute left"],
    [minute, "1 minute left"],
    [1.5 * minute - 1, "1 minute left"],
    [1.5 * minute, "2 minutes left"],
    [2 * hour - 1, "120 minutes left"],
    [2 * hour, "2 hours left"],
    [23.5 * hour - 1, "23 hours left"],
    [24 * hour - 1, "24 hours left"],
    [48 * hour - 1, "48 hours left"],
    [48 * hour, "2 days left"],
    [30 * 24 * hour - 1, "30 days left"],
    [365 * 24 * hour, "365 days left"],
  ])("writes %d ms as %s", (leftMs, text) => {
    expect(timeLeftText(new Date(now + leftMs).toISOString(), now)).toBe(text);
  });

  it("returns null for text that is not a date", () => {
    expect(timeLeftText("soon", now)).toBeNull();
  });
});
