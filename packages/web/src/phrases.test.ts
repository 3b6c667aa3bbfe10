import "../test/english.ts";
import { describe, expect, it } from "vitest";
import { markupOf } from "./html.ts";
import { dateMarkup, sizeText, textsOverLimit, waitText, withDates } from "./phrases.ts";

describe("sizeText", () => {
  it.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [999, "999 bytes"],
    [1000, "0.977 kB"],
    [1024, "1 kB"],
    [412_345, "403 kB"],
    [1_023_487, "999 kB"],
    [1_023_488, "0.976 MB"],
    [1_254_000, "1.2 MB"],
    [26_214_400, "25 MB"],
    [25_500_000, "24.3 MB"],
    [5 * 1024 ** 3, "5 GB"],
  ])("writes %d bytes as %s", (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});

describe("textsOverLimit", () => {
  const MIB = 1024 * 1024;
  it.each([
    [31_500_000, 25 * MIB, "30 MB", "25 MB"],
    [26_300_000, 25 * MIB, "25.1 MB", "25 MB"],
    [25 * MIB + 1000, 25 * MIB, "25.001 MB", "25 MB"],
    [25 * MIB + 1, 25 * MIB, "26,214,401 bytes", "26,214,400 bytes"],
    [10_000_001, 10_000_000, "10,000,001 bytes", "10,000,000 bytes"],
    [20_480, 10_240, "20 kB", "10 kB"],
    [123_456, 500, "123,456 bytes", "500 bytes"],
    [7 * 1024 ** 4, 5 * 1024 ** 4, "7 TB", "5 TB"],
  ])("writes %d bytes above a limit of %d as %s and %s", (bytes, limit, size, most) => {
    expect(textsOverLimit(bytes, limit)).toEqual({ size, limit: most });
  });
});

describe("dateMarkup", () => {
  it("writes a date in UTC, in words and as the datetime attribute", () => {
    expect(markupOf(dateMarkup("2025-11-21T00:05:00+01:00"))).toBe(
      '<time datetime="2025-11-20T23:05:00.000Z">20 Nov 2025, 23:05 UTC</time>',
    );
  });

  it("leaves text that is not a date as escaped text", () => {
    expect(markupOf(dateMarkup("<soon>"))).toBe("&lt;soon&gt;");
  });
});

describe("withDates", () => {
  it("replaces the dates in a text and escapes the rest", () => {
    expect(markupOf(withDates("It <expired> at 2025-11-21T00:05:00.000Z."))).toBe(
      'It &lt;expired&gt; at <time datetime="2025-11-21T00:05:00.000Z">21 Nov 2025, 00:05 UTC</time>.',
    );
    expect(markupOf(withDates("2025-13-99T99:99:99Z"))).toBe("2025-13-99T99:99:99Z");
  });
});

describe("waitText", () => {
  it.each([
    [1, "1 second"],
    [42, "42 seconds"],
    [90, "90 seconds"],
    [91, "2 minutes"],
    [3600, "60 minutes"],
  ])("writes %d seconds as %s", (seconds, text) => {
    expect(waitText(seconds)).toBe(text);
  });
});
