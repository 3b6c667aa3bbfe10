import { describe, expect, it } from "vitest";
import { markupOf } from "./html.ts";
import { dateMarkup, sizeText, waitText, withDates } from "./phrases.ts";

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

describe("withDates", () => {
  it("shows the dates that stand in a text as dates, and all else as text", () => {
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
  ])("says of %d seconds: %s", (seconds, text) => {
    expect(waitText(seconds)).toBe(text);
  });
});
