import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BoxLimits, cover, fitInside, pad, scaledPlacement, windowOf } from "./fit.ts";

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

const box = (maxWidth: number, maxHeight: number, more: Partial<BoxLimits> = {}): BoxLimits => ({
  ...{ maxWidth, maxHeight },
  ...roomy,
  ...more,
});
const PHOTO = { width: 4000, height: 3000 };

describe("cover", () => {
  test.each([
    ["the centre by default", undefined, { left: 43, top: 0 }],
    ["the left edge", [0, 0] as const, { left: 0, top: 0 }],
    ["the right edge", [1, 1] as const, { left: 85, top: 0 }],
    ["a point as its centre", [0.4, 0.5] as const, { left: 8, top: 0 }],
  ])("keeps %s", (_, at, offset) => {
    const layout = cover(PHOTO, at, box(256, 256));
    expect(layout).toEqual({ width: 256, height: 256, drawn: { width: 341, height: 256, ...offset } });
  });

  test("gives the largest size with the ratio of the box where a raster is smaller", () => {
    const drawn = { width: 100, height: 80, left: 10, top: 0 };
    for (const side of [80, 81, 256, 8192]) {
      expect(cover({ width: 100, height: 80 }, undefined, box(side, side))).toEqual({
        width: 80,
        height: 80,
        drawn,
      });
    }
  });

  test("enlarges a drawing to the box, and no further than can be drawn", () => {
    const limits = box(500, 500, { enlarge: true });
    expect(cover({ width: 10, height: 5 }, undefined, limits)).toMatchObject({ width: 500, height: 500 });
    const thin = cover({ width: 8000, height: 1 }, undefined, limits);
    expect(thin).toEqual({
      width: 100,
      height: 100,
      drawn: { width: 800_000, height: 100, left: 399_950, top: 0 },
    });
  });

  test("has no cut for a box with the ratio of the picture", () => {
    expect(cover(PHOTO, [0, 0], box(800, 600))).toEqual({ width: 800, height: 600 });
    expect(cover(PHOTO, "attention", box(800, 600))).toEqual({ width: 800, height: 600 });
  });

  test("leaves a place to be found to the renderer", () => {
    expect(cover(PHOTO, "entropy", box(256, 256))).toEqual({
      ...{ width: 256, height: 256 },
      drawn: { width: 341, height: 256, at: "entropy" },
    });
  });

  test("stays within the picture, the box and the limits", () => {
    const side = fc.integer({ min: 1, max: 9000 });
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        ...[side, side, side, side, share, share, fc.boolean()],
        (width, height, maxWidth, maxHeight, x, y, enlarge) => {
          const limits = box(maxWidth, maxHeight, { enlarge, maxPixels: 1_000_000, maxSide: 5000 });
          const layout = cover({ width, height }, [x, y], limits);
          const { drawn = { ...layout, left: 0, top: 0 } } = layout;
          if ("at" in drawn) throw new Error("The place is known");
          expect(layout.width * layout.height).toBeLessThanOrEqual(limits.maxPixels);
          expect(layout.width).toBeLessThanOrEqual(Math.min(maxWidth, 5000));
          expect(layout.height).toBeLessThanOrEqual(Math.min(maxHeight, 5000));
          if (!enlarge) expect(drawn.width <= width && drawn.height <= height).toBe(true);
          expect(drawn.left >= 0 && drawn.left + layout.width <= drawn.width).toBe(true);
          expect(drawn.top >= 0 && drawn.top + layout.height <= drawn.height).toBe(true);
          expect([layout.width, layout.height].every((each) => Number.isInteger(each) && each > 0)).toBe(
            true,
          );
        },
      ),
    );
  });
});

describe("pad", () => {
  test("centres the picture in the box, and never enlarges a raster", () => {
    expect(pad(PHOTO, box(256, 256))).toEqual({
      ...{ width: 256, height: 256 },
      drawn: { width: 256, height: 192, left: 0, top: -32 },
    });
    expect(pad({ width: 100, height: 80 }, box(256, 256))).toEqual({
      ...{ width: 256, height: 256 },
      drawn: { width: 100, height: 80, left: -78, top: -88 },
    });
  });

  test("has no bars for a box that the picture fills", () => {
    expect(pad(PHOTO, box(800, 600))).toEqual({ width: 800, height: 600 });
  });
});

test("a placement at another size covers the rendition, or stays within it, as before", () => {
  const cut = { width: 341, height: 256, left: 85, top: 0 };
  expect(scaledPlacement(cut, { width: 256, height: 256 }, { width: 512, height: 512 })).toEqual({
    ...{ width: 682, height: 512 },
    ...{ left: 170, top: 0 },
  });
  const bars = { width: 256, height: 192, left: 0, top: -32 };
  expect(scaledPlacement(bars, { width: 256, height: 256 }, { width: 100, height: 100 })).toEqual({
    ...{ width: 100, height: 75 },
    ...{ left: 0, top: -12 },
  });
  expect(windowOf(bars, { width: 256, height: 256 })).toEqual({ width: 256, height: 192, left: 0, top: 0 });
});
