import { expect, it } from "vitest";
import { otherPlaces, parseMountUrl } from "./mount-url.ts";

it.each([
  ["https://example.com/img/", "https://example.com/img"],
  ["https://example.com", "https://example.com"],
  ["http://[::1]:3000//", "http://[::1]:3000"],
])("takes %s", (text, base) => {
  expect(parseMountUrl(text)).toBe(base);
});

it.each([
  "example.com/img",
  "ftp://example.com",
  "https://me:secret@example.com/",
  "https://e.com/?a",
  "/img",
])("refuses %s without repeating it", (text) => {
  expect(() => parseMountUrl(text)).toThrow(/^The command line is not valid\nURL: must be an absolute http/);
  expect(() => parseMountUrl(text)).not.toThrow("secret");
});

it("looks above first, then where people mount", () => {
  const places = otherPlaces("https://example.com/a/b/api");
  expect(places.slice(0, 4)).toEqual([
    "https://example.com/a/b",
    "https://example.com/a",
    "https://example.com",
    "https://example.com/img",
  ]);
  expect(otherPlaces("https://example.com/img")).not.toContain("https://example.com/img");
});
