import type { BezierPath, Layer } from "ag-psd";
import { describe, expect, test } from "vitest";
import { layer, layeredPsd, plain } from "../../../../../../test/support/layered-psd.ts";
import { fill, gradient, RED, SIZE, solid } from "../../../../../../test/support/psd-fills.ts";
import { layerSection, type PlainLayer } from "../../../../../../test/support/psd-layer-section.ts";
import { largestDifference, readPsdPixels } from "../../../../../../test/support/psd-pixels.ts";
import { PSD_COMPRESSIONS, type SamplePsd, samplePsd } from "../../../../../../test/support/psd-samples.ts";
import { openPsd } from "../open-psd.ts";

// The keys of a literal.
const COMPRESSIONS = Object.keys(PSD_COMPRESSIONS) as (keyof typeof PSD_COMPRESSIONS)[];

/** A document of 4 by 3 pixels that declares no merged picture and has a white one. */
function unmerged(layers: Buffer, more: Partial<SamplePsd> = {}): Buffer {
  const channels = new Array(more.mode === "greyscale" ? 1 : 3).fill(
    new Array(12).fill(more.depth === 32 ? 1 : 255),
  );
  return samplePsd({ width: 4, height: 3, channels, layers, hasMergedPicture: false, ...more });
}

async function refusal(bytes: Buffer, maxPixels = 1_000_000): Promise<unknown> {
  return await openPsd(bytes, { maxPixels }).then(
    () => null,
    (error: unknown) => error,
  );
}

function refusedFor(reason: string) {
  return expect.objectContaining({
    code: "unsupported_media",
    message: expect.stringContaining(`it holds no merged picture and ${reason}`),
  });
}

describe.each([
  ["greyscale", 8, { 0: 100 }, [100, 100, 100, 255]],
  ["greyscale", 16, { [-1]: 32_896, 0: 25_700 }, [100, 100, 100, 128]],
  ["greyscale", 32, { 0: 0.5 }, [188, 188, 188, 255]],
  ["rgb", 8, { [-1]: 128, 0: 200, 1: 100, 2: 50 }, [200, 100, 50, 128]],
  ["rgb", 16, { 0: 51_400, 1: 25_700, 2: 12_850 }, [200, 100, 50, 255]],
  ["rgb", 32, { [-1]: 0.5, 0: 0.5, 1: 0.1, 2: 7 }, [188, 89, 255, 128]],
] as const)("a PSD without merged picture, layers of %s with %i bits", (mode, depth, samples, seen) => {
  const plainLayer: PlainLayer = { top: 1, left: 1, width: 2, height: 4, samples };

  test.each(COMPRESSIONS)("is composed from its layers: %s", async (compression) => {
    for (const large of [false, true]) {
      const layers = layerSection([{ ...plainLayer, compression }], depth, large);
      const read = await readPsdPixels(unmerged(layers, { mode, depth, large }));
      const inside = read.at(2, 2);
      expect(largestDifference(inside, seen), `${inside}`).toBeLessThanOrEqual(1);
      expect([read.at(0, 0), read.at(3, 2)].map((pixel) => pixel[3])).toEqual([0, 0]);
    }
  });
});

test.each([
  ["cmyk", 8, { 0: 255, 1: 0, 2: 0, 3: 255 }, [232, 0, 0, 255]],
  ["cmyk", 16, { [-1]: 32_896, 0: 65_535, 1: 65_535, 2: 65_535, 3: 0 }, [20, 5, 0, 128]],
  ["lab", 8, { 0: 138, 1: 209, 2: 198 }, [255, 0, 0, 255]],
  ["lab", 16, { [-1]: 32_896, 0: 137 * 257, 1: 128 * 256, 2: 128 * 256 }, [128, 128, 128, 128]],
  ["duotone", 8, { 0: 100 }, [100, 100, 100, 255]],
] as const)("layers of %s with %i bits are composed", async (mode, depth, samples, seen) => {
  for (const large of [false, true]) {
    const layers = layerSection([{ top: 1, left: 1, width: 2, height: 4, samples }], depth, large);
    const channels = new Array({ cmyk: 4, lab: 3, duotone: 1 }[mode]).fill(new Array(12).fill(255));
    const read = await readPsdPixels(unmerged(layers, { mode, depth, channels, large }));
    expect(largestDifference(read.at(2, 2), seen), `${read.at(2, 2)}`).toBeLessThanOrEqual(6);
    expect(read.at(0, 0)[3]).toBe(0);
  }
});

test("inks of several layers are blended one by one", async () => {
  const inks = (cyan: number, black: number) => ({ 0: cyan, 1: 255, 2: 255, 3: black });
  const layers = layerSection(
    [
      { width: 4, height: 3, samples: inks(128, 255) },
      { width: 4, height: 3, samples: inks(255, 128), blendMode: "mul " },
    ],
    8,
  );
  const channels = new Array(4).fill(new Array(12).fill(255));
  const alone = {
    mode: "cmyk",
    channels: [128, 255, 255, 128].map((ink) => new Array(12).fill(ink)),
  } as const;
  const composed = await readPsdPixels(unmerged(layers, { mode: "cmyk", channels }));
  const merged = await readPsdPixels(samplePsd({ width: 4, height: 3, ...alone }));
  expect(largestDifference(composed.at(1, 1).slice(0, 3), merged.at(1, 1))).toBeLessThanOrEqual(1);
});

test.each([true, false])(
  "a file without layers shows its merged picture, declared real: %s",
  async (real) => {
    const channels = [77, 88, 99].map((value) => new Array<number>(12).fill(value));
    for (const layers of [Buffer.alloc(0), 0]) {
      const bytes = samplePsd({ width: 4, height: 3, channels, layers, hasMergedPicture: real });
      expect((await readPsdPixels(bytes)).at(1, 1)).toEqual([77, 88, 99]);
    }
  },
);

describe("a PSD without merged picture is refused", () => {
  const colour = [9, 9, 9, 255] as const;

  test.each<[string, Layer[]]>([
    ["without layers", []],
    ["with no layer that has pixels", [{ name: "empty" }, { children: [{ name: "empty as well" }] }]],
    ["with hidden layers only", [layer([0, 0, 4, 4], colour, { hidden: true })]],
    ["with a layer of no opacity only", [layer([0, 0, 4, 4], colour, { opacity: 0 })]],
    ["with a hidden group only", [{ children: [layer([0, 0, 4, 4], colour)], hidden: true }]],
    [
      "with a layer that is clipped to a hidden one only",
      [layer([0, 0, 4, 4], colour, { hidden: true }), layer([0, 0, 4, 4], colour, { clipping: true })],
    ],
    ["with layers beside the canvas only", [layer([4, 0, 4, 4], colour), layer([-4, -4, 4, 4], colour)]],
  ])("%s", async (_, children) => {
    const bytes = layeredPsd({ width: 4, height: 4 }, children);
    expect(await refusal(bytes)).toEqual(refusedFor("no visible layer with pixels"));
  });

  test.each(["indexed", "bitmap", "multichannel"] as const)("in %s", async (mode) => {
    const depth = mode === "bitmap" ? 1 : 8;
    const channels = [new Array<number>(12).fill(1)];
    const layers = layerSection([{ width: 4, height: 3, samples: { 0: 1 } }], 8);
    expect(await refusal(unmerged(layers, { mode, depth, channels }))).toEqual(
      refusedFor(`its layers are ${mode}`),
    );
  });

  test("when its layers have several times more pixels than the limit", async () => {
    const children = Array.from({ length: 5 }, () => layer([0, 0, 30, 30], colour));
    const bytes = layeredPsd({ width: 10, height: 10 }, children);
    expect(await refusal(bytes, 1000)).toEqual(refusedFor("its layers have more than 0.004 megapixels"));
    expect(await refusal(bytes, 2000)).toBeNull();
  });

  test("when groups are nested too deeply", async () => {
    let children = [layer([0, 0, 4, 4], colour)];
    for (let depth = 0; depth < 40; depth++) children = [{ children } as (typeof children)[number]];
    expect(await refusal(layeredPsd({ width: 4, height: 4 }, children))).toEqual(
      refusedFor("groups within groups"),
    );
  });

  test("when the pixels of a layer are missing", async () => {
    const layers = layerSection([{ width: 4, height: 3, samples: { 0: 1, 2: 1 } }], 8);
    expect(await refusal(unmerged(layers))).toMatchObject({ code: "unsupported_media" });
  });
});

test.each([{ hasMergedPicture: true }, {}])(
  "openPsd prefers a merged picture to any layers: %o",
  async (says) => {
    const layers = layerSection(
      [{ width: 4, height: 3, samples: { 0: 1, 1: 2, 2: 3 }, blendMode: "hue " }],
      8,
    );
    const channels = [77, 88, 99].map((value) => new Array<number>(12).fill(value));
    const bytes = samplePsd({ width: 4, height: 3, channels, layers, ...says });
    expect((await readPsdPixels(bytes)).at(1, 1)).toEqual([77, 88, 99]);
  },
);

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

  test("a vector mask of too many points is refused by name", async () => {
    const points = Array.from({ length: 20_001 }, (_, index) => [index % 64, index % 63] as const);
    const bytes = layeredPsd(SIZE, [solid(RED, { vectorMask: { paths: [polygon(points)] } })]);
    expect(await refusal(bytes)).toMatchObject({
      code: "unsupported_media",
      message: expect.stringContaining("a vector mask of more than 20000 points"),
    });
  });
});
