import { describe, expect, test } from "vitest";
import { nameOfFile, parseDescription, parseExpiry, parseName } from "./image-fields.ts";

const refused = expect.objectContaining({ code: "bad_request" });

describe("a name", () => {
  test("a name is stored in NFC without control characters", () => {
    expect(parseName("Cafe\u0301\u0000\r\n\u202e.png")).toBe("Café.png");
    expect(parseName("  a b  ")).toBe("a b");
    expect(parseName("\ud83da\ude00 \u{1f600}")).toBe("a \u{1f600}");
  });
  test("an empty name counts as absent", () => {
    for (const value of ["", "  ", "\u0000", undefined, null]) expect(parseName(value)).toBeUndefined();
  });
  test("a name may have 255 characters, counted as code points", () => {
    expect(parseName("😀".repeat(255))).toBe("😀".repeat(255));
    expect(() => parseName("x".repeat(256))).toThrowError(refused);
    expect(() => parseName(5)).toThrowError(refused);
  });
  test("the name of a file loses its path, and is cut to 255 characters", () => {
    expect(nameOfFile("C:\\fake\\photo.jpg")).toBe("photo.jpg");
    expect(nameOfFile("../../etc/passwd")).toBe("passwd");
    expect(nameOfFile("x".repeat(300))).toBe("x".repeat(255));
    expect(nameOfFile("")).toBe("untitled");
    expect(nameOfFile("dir/")).toBe("untitled");
  });
});

describe("a description", () => {
  test("a description is one line in NFC without control characters and marks that reverse the text", () => {
    expect(parseDescription(" Cafe\u0301,\r\n\tby \u202enight\u202c\u0000\u2028it rains ")).toBe(
      "Café, by night it rains",
    );
    expect(parseDescription("\u05d1\u200f (b) <i>\"'")).toBe("\u05d1\u200f (b) <i>\"'");
  });
  test("an absent description changes nothing, and an empty one or null removes it", () => {
    expect(parseDescription(undefined)).toBeUndefined();
    for (const value of ["", " \r\n ", "\u0000", null]) expect(parseDescription(value)).toBeNull();
  });
  test("a description may have 1000 characters, counted as code points", () => {
    for (const text of ["😀".repeat(1000), "e\u0301".repeat(1000)]) {
      expect(parseDescription(text)).toBe(text.normalize("NFC"));
    }
    for (const value of ["x".repeat(1001), 5, ["x"], {}, true]) {
      expect(() => parseDescription(value)).toThrowError(refused);
    }
  });
});

describe("an expiry", () => {
  const now = Date.UTC(2026, 0, 1);
  const settings = { maxLifetimeMs: 1000_000 };
  test("an expiry in the near future is accepted", () => {
    expect(parseExpiry("2026-01-01T00:00:01Z", "query", now, settings)).toBe(now + 1000);
    expect(parseExpiry(now + 5, "json", now, settings)).toBe(now + 5);
    expect(parseExpiry(String(now + 5), "form", now, settings)).toBe(now + 5);
    expect(parseExpiry(now + 1000_000, "json", now, settings)).toBe(now + 1000_000);
  });
  test("an absent or empty expiry leaves the default", () => {
    for (const value of [undefined, null, ""])
      expect(parseExpiry(value, "form", now, settings)).toBeUndefined();
  });
  test("an expiry out of range or of another form is rejected", () => {
    for (const [title, value, source] of [
      ["now", now, "json"],
      ["the past", now - 1, "json"],
      ["too far", now + 1000_001, "json"],
      ["digits in a query", String(now + 5), "query"],
      ["digits in a JSON string", String(now + 5), "json"],
      ["no zone", "2026-01-01T00:00:01", "form"],
      ["another type", true, "json"],
    ] as const) {
      expect(() => parseExpiry(value, source, now, settings), title).toThrowError(refused);
    }
  });
});
