import { describe, expect, test } from "vitest";
import type { Size } from "../../contracts/renderer.ts";
import { DEFAULT_STEPS, sizePolicy } from "./presets.ts";
import { boxOfStep } from "./read-request.ts";

const STEPS = [100, 200, 400];

/** Measures like a renderer: `isScalable` pictures fill their box, others are never enlarged. */
function measuring(natural: Size, isScalable = false) {
  return ({ maxWidth, maxHeight }: { maxWidth?: number; maxHeight?: number }): Size => {
    const scale = Math.min(
      isScalable ? Number.POSITIVE_INFINITY : 1,
      (maxWidth ?? Number.POSITIVE_INFINITY) / natural.width,
      (maxHeight ?? Number.POSITIVE_INFINITY) / natural.height,
    );
    return { width: Math.round(natural.width * scale), height: Math.round(natural.height * scale) };
  };
}

describe("boxOfStep", () => {
  const landscape = measuring({ width: 1000, height: 500 });
  test.each([
    ["a size between steps", { maxWidth: 101 }, 200],
    ["a size that is a step", { maxWidth: 100 }, 100],
    ["a height, by the resulting width", { maxHeight: 51 }, 200],
    ["a box, by the resulting size instead of its own sides", { maxWidth: 100, maxHeight: 8192 }, 100],
    ["a small size", { maxWidth: 1, maxHeight: 1 }, 100],
    ["a size above the largest step", { maxWidth: 401 }, 400],
    ["a box larger than the picture", { maxWidth: 8192 }, 400],
  ])("returns the next larger step for %s", (_, box, side) => {
    expect(boxOfStep(box, STEPS, landscape)).toEqual({ maxWidth: side, maxHeight: side });
  });

  test("compares the height of an upright picture", () => {
    const upright = measuring({ width: 500, height: 1000 });
    expect(boxOfStep({ maxWidth: 51 }, STEPS, upright)).toEqual({ maxWidth: 200, maxHeight: 200 });
  });

  test("enlarges a scalable picture", () => {
    const drawing = measuring({ width: 10, height: 5 }, true);
    expect(boxOfStep({ maxWidth: 150 }, STEPS, drawing)).toEqual({ maxWidth: 200, maxHeight: 200 });
  });

  test("returns no box without a box", () => {
    expect(boxOfStep({}, STEPS, landscape)).toEqual({});
  });

  test.each([
    [{ maxWidth: 101 }, { maxWidth: 200 }],
    [{ maxHeight: 101 }, { maxHeight: 200 }],
    [
      { maxWidth: 101, maxHeight: 201 },
      { maxWidth: 400, maxHeight: 400 },
    ],
    [{ maxWidth: 999 }, { maxWidth: 400 }],
  ])("turns %j into %j if the resulting size is unknown", (box, expected) => {
    expect(boxOfStep(box, STEPS, () => null)).toEqual(expected);
  });

  test("maps all boxes of an image to at most one size more than there are steps", () => {
    for (const natural of [
      { width: 317, height: 211 },
      { width: 40, height: 1999 },
    ]) {
      const measure = measuring(natural);
      const sizes = new Set<string>([JSON.stringify(natural)]);
      for (let side = 1; side <= 500; side++) {
        for (const box of [{ maxWidth: side }, { maxHeight: side }, { maxWidth: side, maxHeight: 333 }]) {
          sizes.add(JSON.stringify(measure(boxOfStep(box, STEPS, measure))));
        }
      }
      expect(sizes.size).toBeLessThanOrEqual(STEPS.length + 1);
    }
  });
});

describe("sizePolicy", () => {
  test("returns the default ladder for steps, in ascending order", () => {
    expect(sizePolicy("steps")).toEqual({ steps: DEFAULT_STEPS, needsSignature: false });
    expect([...DEFAULT_STEPS].sort((a, b) => a - b)).toEqual(DEFAULT_STEPS);
  });

  test("sorts the host's ladder and drops duplicates", () => {
    expect(sizePolicy({ steps: [400, 100, 400, 200] }).steps).toEqual([100, 200, 400]);
  });
});
