import { expect, test } from "vitest";
import { bytesText, durationText, parseDuration, parseSize } from "./amounts.ts";

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [1000, "1000 bytes"],
  [1536, "1.5 KiB"],
  [26_214_400, "25 MiB"],
  [26_214_401, "25 MiB"],
  [3 * 1024 ** 4, "3072 GiB"],
])("bytesText shows %d bytes as %s", (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

test("bytesText rounds down, or as the caller says", () => {
  expect(bytesText(26_214_401, Math.ceil)).toBe("25.01 MiB");
  expect(bytesText(2047)).toBe("1.99 KiB");
});

test.each([
  [500, "0.5 seconds"],
  [60_000, "1 minute"],
  [5_400_000, "1.5 hours"],
  [86_400_000, "1 day"],
  [99_360_000, "1.15 days"],
  [31_536_000_000, "365 days"],
])("durationText shows %d milliseconds as %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each([
  ["30s", 30_000],
  ["2w", 14 * 86_400_000],
  ["1.5h", null],
  ["30 s", null],
  ["30", null],
])("parseDuration reads %j as %j milliseconds", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  ["25MB", 25_000_000],
  ["25 MiB", 26_214_400],
  ["1.5gb", 1_500_000_000],
  ["0.001kB", 1],
  ["512b", 512],
  ["25", null],
  ["25M", null],
  ["1e3MB", null],
  ["-1MB", null],
])("parseSize reads %j as %j bytes", (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});
