import fc from "fast-check";
import { expect, test } from "vitest";
import { cover } from "../../packages/imaging/src/shared/fit.ts";
import { cutPosition } from "../../packages/web/browser/edit/focal-point.ts";

const side = fc.integer({ min: 8, max: 8192 });
const share = fc.integer({ min: 0, max: 10_000 }).map((digits) => digits / 10_000);

test("the edit page shows the part of a picture that the renderer cuts, to a pixel or two", () => {
  const check = (picture: [number, number], box: [number, number], at: [number, number]) => {
    const [natural, size] = [picture, box].map(([width, height]) => ({ width, height })) as [Size, Size];
    const { drawn, width, height } = cover(natural, at, {
      ...{ maxWidth: size.width, maxHeight: size.height, enlarge: true },
      ...{ maxSide: 8192, maxPixels: 8192 ** 2 },
    });
    const [x, y] = cutPosition(natural, size, at);
    // Where the box fits the picture, nothing is hidden, whatever the position.
    const { left, top } = drawn !== undefined && "left" in drawn ? drawn : { left: 0, top: 0 };
    const whole = drawn ?? { width, height };
    // CSS puts this share of what is hidden to the left, and above. The renderer rounds the picture and its place.
    expect(Math.abs(x * (whole.width - width) - left)).toBeLessThanOrEqual(1.5);
    expect(Math.abs(y * (whole.height - height) - top)).toBeLessThanOrEqual(1.5);
  };
  const property = fc.property(fc.tuple(side, side), fc.tuple(side, side), fc.tuple(share, share), check);
  fc.assert(property, { seed: 22, numRuns: 5_000 });
});

test("the edges of the picture bound the cut, and a picture of the same ratio is shown whole", () => {
  const picture = { width: 1600, height: 900 };
  const square = { width: 1, height: 1 };
  expect(cutPosition(picture, square, [0, 0])).toEqual([0, 0.5]);
  expect(cutPosition(picture, square, [0.28, 1])).toEqual([0, 0.5]);
  expect(cutPosition(picture, square, [0.5, 0.5])).toEqual([0.5, 0.5]);
  expect(cutPosition(picture, square, [1, 0.2])).toEqual([1, 0.5]);
  expect(cutPosition(picture, { width: 16, height: 9 }, [0.1, 0.9])).toEqual([0.5, 0.5]);
});

interface Size {
  width: number;
  height: number;
}
