import { expect, test } from "vitest";
import { fitInside } from "./fit.ts";

const roomy = { enlarge: false, maxSide: 8192, maxPixels: 25_000_000 };

test.each([
  ["no box", 4000, 3000, {}, 4000, 3000],
  ["width only", 4000, 3000, { maxWidth: 800 }, 800, 600],
  ["height only", 4000, 3000, { maxHeight: 600 }, 800, 600],
  ["the narrower side of a box", 4000, 3000, { maxWidth: 800, maxHeight: 100 }, 133, 100],
  ["a box that fits exactly", 4000, 3000, { maxWidth: 4000, maxHeight: 3000 }, 4000, 3000],
  ["a box larger than the picture", 40, 30, { maxWidth: 800 }, 40, 30],
  ["a side that would vanish", 4000, 1, { maxWidth: 100 }, 100, 1],
  ["a box of one pixel", 4000, 3000, { maxWidth: 1, maxHeight: 1 }, 1, 1],
])("fitInside, %s: %i by %i", (_, width, height, box, expectedWidth, expectedHeight) => {
  expect(fitInside({ width, height }, { ...roomy, ...box })).toEqual({
    width: expectedWidth,
    height: expectedHeight,
  });
});

test("fitInside enlarges only when that is allowed and a box is given", () => {
  const limits = { ...roomy, enlarge: true };
  expect(fitInside({ width: 10, height: 5 }, { ...limits, maxWidth: 800, maxHeight: 800 })).toEqual({
    width: 800,
    height: 400,
  });
  expect(fitInside({ width: 10, height: 5 }, limits)).toEqual({ width: 10, height: 5 });
});

test("fitInside limits the longer side to maxSide, with and without a box", () => {
  expect(fitInside({ width: 20_000, height: 100 }, roomy)).toEqual({ width: 8192, height: 41 });
  expect(fitInside({ width: 10, height: 1 }, { ...roomy, enlarge: true, maxHeight: 8192 })).toEqual({
    width: 8192,
    height: 819,
  });
});

test("fitInside stays within maxPixels for every aspect ratio", () => {
  for (const [width, height] of [
    [8000, 8000],
    [8191, 3053],
    [8192, 7],
    [1, 8192],
    [4999, 5003],
  ] as const) {
    const size = fitInside({ width, height }, { ...roomy, maxPixels: 1_000_000 });
    expect(size.width * size.height).toBeLessThanOrEqual(1_000_000);
    expect(size.width * size.height).toBeGreaterThan(Math.min(width * height, 998_000) - 1);
  }
});
