import type { BezierPath, Layer } from "ag-psd";
import { describe, expect, test } from "vitest";
import { layeredPsd, plain } from "../../../../../../test/support/layered-psd.ts";
import { fill, gradient, RED, refusal, SIZE, solid } from "../../../../../../test/support/psd-fills.ts";
import { largestDifference, readPsdPixels } from "../../../../../../test/support/psd-pixels.ts";

/** A path of straight lines through points. */
function polygon(points: readonly (readonly [number, number])[], more: Partial<BezierPath> = {}): BezierPath {
  const knots = points.map(([x, y]) => ({ linked: false, points: [x, y, x, y, x, y] }));
  return { open: false, fillRule: "even-odd", operation: "combine", knots, ...more };
}

function box(left: number, top: number, right: number, bottom: number, more: Partial<BezierPath> = {}) {
  const corners = [
    [left, top],
    [right, top],
    [right, bottom],
    [left, bottom],
  ] as const;
  return polygon(corners, more);
}

describe("a vector mask", () => {
  async function alphas(vectorMask: NonNullable<Layer["vectorMask"]>, more: Layer = {}) {
    const read = await readPsdPixels(layeredPsd(SIZE, [solid(RED, { vectorMask, ...more })]));
    return [4, 20, 32, 44, 60].map((x) => read.at(x, 32)[3]);
  }

  test.each<[string, NonNullable<Layer["vectorMask"]>, number[]]>([
    ["shows what is inside", { paths: [box(16, 0, 48, 64)] }, [0, 255, 255, 255, 0]],
    ["inverted shows what is outside", { paths: [box(16, 0, 48, 64)], invert: true }, [255, 0, 0, 0, 255]],
    ["disabled shows everything", { paths: [box(16, 0, 48, 64)], disable: true }, [255, 255, 255, 255, 255]],
    ["without paths shows everything", { paths: [] }, [255, 255, 255, 255, 255]],
    ["adds shapes", { paths: [box(0, 0, 8, 64), box(56, 0, 64, 64)] }, [255, 0, 0, 0, 255]],
    [
      "subtracts a shape",
      { paths: [box(16, 0, 48, 64), box(28, 0, 36, 64, { operation: "subtract" })] },
      [0, 255, 0, 255, 0],
    ],
    [
      "subtracts its first shape from all",
      { paths: [box(28, 0, 36, 64, { operation: "subtract" })] },
      [255, 255, 0, 255, 255],
    ],
    [
      "intersects shapes",
      { paths: [box(16, 0, 48, 64), box(28, 0, 64, 64, { operation: "intersect" })] },
      [0, 0, 255, 255, 0],
    ],
    [
      "excludes what shapes have in common",
      { paths: [box(0, 0, 48, 64), box(28, 0, 64, 64, { operation: "exclude" })] },
      [255, 255, 0, 0, 255],
    ],
  ])("%s", async (_, vectorMask, seen) => {
    expect(await alphas(vectorMask)).toEqual(seen);
  });

  test("is applied together with the mask of pixels", async () => {
    const mask = { left: 0, top: 0, defaultColor: 0, imageData: plain(30, 64, [255, 255, 255, 255]) };
    expect(await alphas({ paths: [box(16, 0, 48, 64)] }, { mask })).toEqual([0, 255, 0, 0, 0]);
  });

  test("aligns a gradient with its box", async () => {
    const masked = fill(gradient(), { vectorMask: { paths: [box(16, 0, 48, 64)] } });
    const free = fill(gradient({ align: false }), { vectorMask: { paths: [box(16, 0, 48, 64)] } });
    const [inBox, onCanvas] = [
      await readPsdPixels(layeredPsd(SIZE, [masked])),
      await readPsdPixels(layeredPsd(SIZE, [free])),
    ];
    expect(largestDifference([inBox.at(17, 5)[0] ?? -1, inBox.at(46, 5)[0] ?? -1], [12, 243])).toBeLessThan(
      8,
    );
    expect(
      largestDifference([onCanvas.at(17, 5)[0] ?? -1, onCanvas.at(46, 5)[0] ?? -1], [70, 185]),
    ).toBeLessThan(8);
  });

  test("of too many points is refused by name", async () => {
    const points = Array.from({ length: 20_001 }, (_, index) => [index % 64, index % 63] as const);
    const bytes = layeredPsd(SIZE, [solid(RED, { vectorMask: { paths: [polygon(points)] } })]);
    expect(await refusal(bytes)).toMatchObject({
      code: "unsupported_media",
      message: expect.stringContaining("a vector mask of more than 20000 points"),
    });
  });
});
