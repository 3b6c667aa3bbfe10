import { expect, it } from "vitest";
import { sizeText, timeText } from "./amounts.ts";

it.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [999_949, "999.9 kB"],
  [999_950, "1.0 MB"],
  [26_214_400, "26.2 MB"],
  [1.5e12, "1.5 TB"],
  [2e16, "20000.0 TB"],
])("sizeText shows %d bytes as %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

it.each([
  [0.2, "1 s"],
  [99, "99 s"],
  [150, "3 min"],
  [9000, "2.5 h"],
])("timeText shows %d seconds as %s", (seconds, text) => {
  expect(timeText(seconds)).toBe(text);
});
