import { describe, expect, test } from "vitest";
import type { OriginalFacts, RenditionSpec, Size } from "../../contracts/renderer.ts";
import { boxOfStep, DEFAULT_STEPS, servedParameters, sizePolicy } from "./sizes.ts";

const STEPS = [100, 200, 400];

/** As a renderer measures: `isScalable` pictures fill their box, others are never enlarged. */
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

describe("the box of a step", () => {
  const landscape = measuring({ width: 1000, height: 500 });
  test.each([
    ["a size between steps", { maxWidth: 101 }, 200],
    ["a size that is a step", { maxWidth: 100 }, 100],
    ["a height by the width that it results in", { maxHeight: 51 }, 200],
    ["a box by its effective size, not by its own sides", { maxWidth: 100, maxHeight: 8192 }, 100],
    ["a small size", { maxWidth: 1, maxHeight: 1 }, 100],
    ["a size above the largest step", { maxWidth: 401 }, 400],
    ["a box larger than the picture", { maxWidth: 8192 }, 400],
  ])("is the next larger one for %s", (_, box, side) => {
    expect(boxOfStep(box, STEPS, landscape)).toEqual({ maxWidth: side, maxHeight: side });
  });

  test("goes by the height of an upright picture", () => {
    const upright = measuring({ width: 500, height: 1000 });
    expect(boxOfStep({ maxWidth: 51 }, STEPS, upright)).toEqual({ maxWidth: 200, maxHeight: 200 });
  });

  test("enlarges what is drawn at any size", () => {
    const drawing = measuring({ width: 10, height: 5 }, true);
    expect(boxOfStep({ maxWidth: 150 }, STEPS, drawing)).toEqual({ maxWidth: 200, maxHeight: 200 });
  });

  test("is none without a box", () => {
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
  ])("of %j is %j where the size is not known", (box, expected) => {
    expect(boxOfStep(box, STEPS, () => null)).toEqual(expected);
  });

  test("leaves an image at most one size more than there are steps, over all boxes", () => {
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

describe("the parameters that are served", () => {
  const original: OriginalFacts = { type: "image/png", width: 1000, height: 500, pages: 1, size: 1 };
  const asked = { quality: "low", maxWidth: 150, page: 1 } as const;
  const specs: RenditionSpec[] = [];
  const renderer = {
    measure(_: OriginalFacts, spec: RenditionSpec) {
      specs.push(spec);
      return { width: 150, height: 75 };
    },
  };

  test("have the box of the step, and all else as it was asked for", () => {
    const served = servedParameters(
      renderer,
      original,
      "jpg",
      { parameters: asked, isExact: false },
      sizePolicy({ steps: STEPS }),
    );
    expect(served).toEqual({ quality: "low", page: 1, maxWidth: 200, maxHeight: 200 });
    expect(specs).toEqual([{ format: "jpg", ...asked }]);
  });

  test.each([
    [true, sizePolicy("steps")],
    [false, sizePolicy("any")],
    [false, sizePolicy("signed")],
  ])("are those of the request when exact is %s under %j", (isExact, policy) => {
    const request = { parameters: asked, isExact };
    expect(servedParameters(renderer, original, "jpg", request, policy)).toEqual(asked);
  });
});

describe("the policy of sizes", () => {
  test("has the default ladder for steps", () => {
    expect(sizePolicy("steps")).toEqual({ steps: DEFAULT_STEPS, needsSignature: false });
    expect([...DEFAULT_STEPS].sort((a, b) => a - b)).toEqual(DEFAULT_STEPS);
  });

  test("orders a ladder of the host", () => {
    expect(sizePolicy({ steps: [400, 100, 400, 200] }).steps).toEqual([100, 200, 400]);
  });
});
