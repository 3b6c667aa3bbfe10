import { deflateSync, inflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { deflateToLength } from "./stream-filters.ts";

const content = Buffer.from("an object and another object and yet another object ".repeat(20));
const shortest = deflateSync(content, { level: 9 }).length;

test("deflateToLength pads the content with zeros to any length", () => {
  for (const more of [20, 21, 27, 1000, 65_535, 65_540, 65_560, 65_561, 300_000]) {
    const packed = deflateToLength(content, shortest + more);
    expect(packed?.length).toBe(shortest + more);
    const unpacked = inflateSync(packed ?? "");
    expect(unpacked.subarray(0, content.length)).toEqual(content);
    expect(unpacked.subarray(content.length).every((byte) => byte === 0)).toBe(true);
  }
});

test("deflateToLength returns null when the content does not fit", () => {
  expect(deflateToLength(content, shortest)).toBeNull();
  expect(deflateToLength(content, 0)).toBeNull();
});

test("deflateToLength packs empty content", () => {
  const unpacked = inflateSync(deflateToLength(Buffer.alloc(0), 100) ?? "");
  expect(unpacked).toEqual(Buffer.alloc(unpacked.length));
});
