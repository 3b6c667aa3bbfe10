import { expect, it } from "vitest";
import { otherPlaces } from "./check-reach.ts";

it("otherPlaces lists parent paths first, then common mount points", () => {
  const places = otherPlaces("https://example.com/a/b/api");
  expect(places.slice(0, 4)).toEqual([
    "https://example.com/a/b",
    "https://example.com/a",
    "https://example.com",
    "https://example.com/img",
  ]);
  expect(otherPlaces("https://example.com/img")).not.toContain("https://example.com/img");
});
