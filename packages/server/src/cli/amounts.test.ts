import { expect, it } from "vitest";
import { timeText } from "./amounts.ts";

it.each([
  [0.2, "1 s"],
  [99, "99 s"],
  [150, "3 min"],
  [9000, "2.5 h"],
])("timeText shows %d seconds as %s", (seconds, text) => {
  expect(timeText(seconds)).toBe(text);
});
