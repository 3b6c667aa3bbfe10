import { expect, it } from "vitest";
import { sizeText } from "./amounts.ts";

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
