import type { Color, Layer, VectorContent } from "ag-psd";
import { describe, expect, test } from "vitest";
import { layer, layeredPsd, plain } from "../../../../../../../test/support/layered-psd.ts";
import {
  BLACK,
  fill,
  type GradientContent,
  gradient,
  RED,
  refusal,
  SIZE,
  solid,
  WHITE,
} from "../../../../../../../test/support/psd-fills.ts";
import { largestDifference, readPsdPixels } from "../../../../../../../test/support/psd-pixels.ts";

test.each<[string, Color, number[]]>([
  ["RGB", { r: 200, g: 100, b: 50 }, [200, 100, 50]],
  ["RGB of fractions", { fr: 1, fg: 0.5, fb: 0 }, [255, 128, 0]],
  ["HSB", { h: 1 / 3, s: 100, b: 50 }, [0, 128, 0]],
  ["CMYK", { c: 0, m: 100, y: 100, k: 0 }, [255, 0, 0]],
  ["Lab", { l: 54, a: 81, b: 70 }, [255, 0, 0]],
  ["grey", { k: 100 }, [0, 0, 0]],
])("a layer filled with a colour of %s is drawn over the whole canvas", async (_, color, seen) => {
  for (const psb of [false, true]) {
    const read = await readPsdPixels(layeredPsd(SIZE, [solid(color)], { psb }));
    for (const pixel of [read.at(0, 0), read.at(63, 63)]) {
      expect(largestDifference(pixel, [...seen, 255]), `${pixel}`).toBeLessThanOrEqual(6);
    }
  }
});

test("a filled layer has blend mode, opacity, a mask and clipped layers", async () => {
  const mask = { left: 0, top: 0, defaultColor: 0, imageData: plain(32, 64, [255, 255, 255, 255]) };
  const read = await readPsdPixels(
    layeredPsd(SIZE, [
      solid({ r: 200, g: 200, b: 200 }),
      solid(RED, { mask, opacity: 0.5, blendMode: "multiply" }),
      solid({ r: 0, g: 0, b: 255 }, { clipping: true, mask: { ...mask, top: 32 } }),
    ]),
  );
  for (const [at, seen] of [
    [read.at(8, 8), [200, 100, 100, 255]],
    [read.at(8, 40), [100, 100, 200, 255]],
    [read.at(40, 8), [200, 200, 200, 255]],
  ] as const) {
    expect(largestDifference(at, seen), `${at}`).toBeLessThanOrEqual(2);
  }
});

test("the pixels of a filled layer count more than its filling", async () => {
  const drawn = layer([0, 0, 64, 64], [1, 2, 3, 255], { vectorFill: { type: "color", color: RED } });
  expect((await readPsdPixels(layeredPsd(SIZE, [drawn]))).at(5, 5)).toEqual([1, 2, 3, 255]);
});

describe("a layer filled with a gradient", () => {
  /** A place in shares of the canvas. */
  type Place = [x: number, y: number];
  /** The red of places. */
  async function reds(content: GradientContent, places: readonly Place[]) {
    const read = await readPsdPixels(layeredPsd(SIZE, [fill(content)]));
    return places.map(([x, y]) => read.at(Math.floor(x * 63), Math.floor(y * 63))[0] ?? -1);
  }
  const places = (text: string) => text.split(" ").map((place) => place.split(",").map(Number) as Place);
  const ROW = places("0,.5 .25,.5 .5,.5 .75,.5 1,.5");
  const COLUMN = places(".5,0 .5,.25 .5,.5 .5,.75 .5,1");

  test.each<[string, Partial<GradientContent>, readonly Place[], number[]]>([
    ["linear", {}, ROW, [0, 64, 128, 191, 255]],
    ["linear, upwards", { angle: 90 }, COLUMN, [255, 191, 128, 64, 0]],
    ["linear, leftwards", { angle: 180 }, ROW, [255, 191, 128, 64, 0]],
    ["linear, negative angle", { angle: -90 }, COLUMN, [0, 64, 128, 191, 255]],
    ["linear, into the corner", { angle: 45 }, places("0,1 .5,.5 1,0"), [0, 128, 255]],
    ["reversed", { reverse: true }, ROW, [255, 191, 128, 64, 0]],
    ["scaled to half", { scale: 0.5 }, ROW, [0, 0, 128, 255, 255]],
    ["scaled to double", { scale: 2 }, ROW, [64, 96, 128, 160, 191]],
    ["offset", { offset: { x: 0.25, y: 0 } }, ROW, [0, 0, 64, 128, 191]],
    ["radial", { style: "radial" }, ROW, [255, 128, 0, 128, 255]],
    ["reflected", { style: "reflected" }, ROW, [255, 128, 0, 128, 255]],
    ["reflected across", { style: "reflected" }, COLUMN, [0, 0, 0, 0, 0]],
    ["diamond", { style: "diamond" }, places(".5,.5 .75,.75 .75,.5"), [0, 255, 128]],
    ["angle", { style: "angle" }, places(".5,1 0,.5 .5,0"), [64, 128, 191]],
    ["angle, turned", { style: "angle", angle: 90 }, places("1,.5 .5,1 0,.5"), [64, 128, 191]],
  ])("%s", async (_, more, places, seen) => {
    const found = await reds(gradient(more), places);
    expect(largestDifference(found, seen), `${found}`).toBeLessThanOrEqual(8);
  });

  test("has stops anywhere, with midpoints, and repeats the outermost", async () => {
    const colorStops = [
      { color: WHITE, location: 0.75, midpoint: 0.5 },
      { color: BLACK, location: 0.25, midpoint: 0.25 },
    ];
    const found = await reds(gradient({ colorStops }), [...ROW, [0.375, 0.5]]);
    expect(largestDifference(found, [0, 0, 170, 255, 255, 128]), `${found}`).toBeLessThanOrEqual(8);
  });

  test("ends sharply where two stops meet", async () => {
    const colorStops = [
      { color: BLACK, location: 0.5, midpoint: 0.5 },
      { color: WHITE, location: 0.5, midpoint: 0.5 },
    ];
    expect(await reds(gradient({ colorStops }), places("0,0 .45,0 .55,0 1,0"))).toEqual([0, 0, 255, 255]);
  });

  test("keeps the positions of its stops whatever its smoothness", async () => {
    // ag-psd writes positions as shares of the smoothness, unlike Photoshop.
    const stops = [0, 2].map((location) => ({
      color: location === 0 ? BLACK : WHITE,
      location,
      midpoint: 0.5,
    }));
    const found = await reds(gradient({ smoothness: 0.5, colorStops: stops }), ROW);
    expect(largestDifference(found, [0, 64, 128, 191, 255]), `${found}`).toBeLessThanOrEqual(8);
  });

  test("has stops of opacity", async () => {
    const opacityStops = [0, 1].map((location) => ({ opacity: location, location, midpoint: 0.5 }));
    const read = await readPsdPixels(layeredPsd(SIZE, [fill(gradient({ opacityStops }))]));
    const found = [0, 32, 63].map((x) => read.at(x, 10)[3] ?? -1);
    expect(largestDifference(found, [0, 128, 255]), `${found}`).toBeLessThanOrEqual(4);
  });
});

describe("a layer filled with a pattern", () => {
  const data = new Uint8Array([
    ...[255, 0, 0, 255],
    ...[0, 255, 0, 255],
    ...[0, 0, 255, 255],
    ...[9, 9, 9, 255],
  ]);
  const patterns = [{ name: "p", id: "pattern-1", x: 0, y: 0, bounds: { x: 0, y: 0, w: 2, h: 2 }, data }];

  function patternFill(more: object = {}): Layer {
    return fill({ type: "pattern", name: "p", id: "pattern-1", ...more });
  }

  test("repeats it from the corner of the canvas", async () => {
    const read = await readPsdPixels(layeredPsd({ ...SIZE, patterns }, [patternFill()]));
    expect([read.at(0, 0), read.at(1, 0), read.at(10, 11), read.at(63, 63)]).toEqual([
      [255, 0, 0, 255],
      [0, 255, 0, 255],
      [0, 0, 255, 255],
      [9, 9, 9, 255],
    ]);
  });

  test("that the file does not hold is refused by name when nothing else is visible", async () => {
    const bytes = layeredPsd({ ...SIZE, patterns: [] }, [patternFill()]);
    expect(await refusal(bytes)).toMatchObject({
      code: "unsupported_media",
      message: expect.stringContaining("no visible layer with pixels but a pattern that it does not contain"),
    });
    expect(await refusal(layeredPsd(SIZE, [solid(RED), patternFill()]))).toBeNull();
  });
});

test("a file of noise gradients alone is refused by name", async () => {
  const noise: VectorContent = {
    type: "noise",
    name: "",
    style: "linear",
    roughness: 0.5,
    colorModel: "rgb",
    randomSeed: 1,
    min: [0, 0, 0, 0],
    max: [1, 1, 1, 1],
  };
  expect(await refusal(layeredPsd(SIZE, [fill(noise)]))).toMatchObject({
    code: "unsupported_media",
    message: expect.stringContaining("no visible layer with pixels but a noise gradient"),
  });
});

test("hostile numbers of a gradient are drawn within the time of others", async () => {
  const worst = [Number.NaN, Number.POSITIVE_INFINITY, -1e300, 1e300, 0];
  const stops = Array.from({ length: 2000 }, (_, index) => ({
    color: { r: worst[index % 5] ?? 0, g: index % 256, b: 0 },
    location: 0.5,
    midpoint: worst[index % 5] ?? 0,
  }));
  for (const worstNumber of worst) {
    const content = gradient({
      angle: worstNumber,
      scale: worstNumber,
      offset: { x: worstNumber, y: worstNumber },
      colorStops: stops,
      opacityStops: [{ opacity: worstNumber, location: 0, midpoint: 0 }],
    });
    const bytes = layeredPsd(SIZE, [solid(RED), fill(content)]);
    const began = process.cpuUsage();
    expect((await readPsdPixels(bytes)).at(3, 3)[3]).toBe(255);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(2000);
  }
});
