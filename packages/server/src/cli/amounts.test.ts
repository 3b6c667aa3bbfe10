import { expect, it } from "vitest";
import { expiryText, timeText } from "./amounts.ts";

it.each([
  [0.2, "1 s"],
  [99, "99 s"],
  [150, "3 min"],
  [9000, "2.5 h"],
])("timeText shows %d seconds as %s", (seconds, text) => {
  expect(timeText(seconds)).toBe(text);
});

it("expiryText shows a date to the minute, and the absence of one", () => {
  expect(expiryText("2030-01-02T03:04:05.678Z")).toBe("2030-01-02 03:04 UTC");
  expect(expiryText(null)).toBe("never");
});
