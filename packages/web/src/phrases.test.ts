import { describe, expect, it } from "vitest";
import { markupOf } from "./html.ts";
import { dateMarkup, sizeText, timeLeftText } from "./phrases.ts";

describe("sizeText", () => {
  it.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [999, "999 bytes"],
    [1000, "1 kB"],
    [412_345, "412 kB"],
    [999_499, "999 kB"],
    [999_500, "1 MB"],
    [1_254_000, "1.25 MB"],
    [26_214_400, "26.2 MB"],
    [5_000_000_000, "5 GB"],
  ])("says of %d bytes: %s", (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});

describe("timeLeftText", () => {
  const now = Date.parse("2025-11-20T12:00:00.000Z");
  const minute = 60_000;
  const hour = 60 * minute;
  it.each([
    [-1, "expired"],
    [0, "expired"],
    [1, "less than a minute left"],
    [minute, "1 minute left"],
    [2 * minute, "2 minutes left"],
    [2 * hour - 1, "119 minutes left"],
    [2 * hour, "2 hours left"],
    [24 * hour - 1, "23 hours left"],
    [48 * hour - 1, "47 hours left"],
    [48 * hour, "2 days left"],
    [365 * 24 * hour, "365 days left"],
  ])("says of %d ms: %s", (leftMs, text) => {
    expect(timeLeftText(new Date(now + leftMs).toISOString(), now)).toBe(text);
  });

  it("knows nothing of text that is no date", () => {
    expect(timeLeftText("soon", now)).toBeNull();
  });
});

describe("dateMarkup", () => {
  it("gives the moment in UTC to machines and people", () => {
    expect(markupOf(dateMarkup("2025-11-21T00:05:00+01:00"))).toBe(
      '<time datetime="2025-11-20T23:05:00.000Z">20 Nov 2025, 23:05 UTC</time>',
    );
  });

  it("leaves text that is no date as text", () => {
    expect(markupOf(dateMarkup("<soon>"))).toBe("&lt;soon&gt;");
  });
});
