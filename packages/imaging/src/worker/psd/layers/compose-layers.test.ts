import type { Layer } from "ag-psd";
import { describe, expect, test } from "vitest";
import { layer, layeredPsd, plain } from "../../../../../../test/support/layered-psd.ts";
import { largestDifference, readPsdPixels } from "../../../../../../test/support/psd-pixels.ts";
import { channelMixers, type Rgb } from "./blend-mode.ts";

const SIZE = { width: 8, height: 8 };

/** Opacity is a byte in the file: a half is 127 of 255. */
const TOLERANCE = 2;

const background = layer([0, 0, 8, 8], [200, 200, 200, 255]);

function covering(colour: readonly [number, number, number, number], more: Layer = {}): Layer {
  return layer([0, 0, 8, 8], colour, more);
}

/** Fails unless two places have these colours. */
async function expectSeen(bytes: Buffer, upperLeft: number[], lowerRight: number[]): Promise<void> {
  const read = await readPsdPixels(bytes);
  expect([read.width, read.height]).toEqual([8, 8]);
  for (const [found, seen] of [
    [read.at(1, 1), upperLeft],
    [read.at(6, 6), lowerRight],
  ]) {
    expect(largestDifference(found ?? [], seen ?? []), `${found} for ${seen}`).toBeLessThanOrEqual(TOLERANCE);
  }
}

async function expectDrawn(children: Layer[], upperLeft: number[], lowerRight: number[]): Promise<void> {
  await expectSeen(layeredPsd(SIZE, children), upperLeft, lowerRight);
}

const GREY = [200, 200, 200, 255];
const RED = [255, 0, 0, 255];
/** Half of {@link GREY} over black. */
const HALF = [100, 100, 100, 255];

describe("composed layers", () => {
  test("cover the layers below them", async () => {
    await expectDrawn([background, layer([0, 0, 4, 4], [255, 0, 0, 255])], RED, GREY);
  });

  test("leave the rest of the canvas transparent", async () => {
    await expectDrawn([layer([0, 0, 4, 4], [255, 0, 0, 255])], RED, [0, 0, 0, 0]);
  });

  test("are clipped to the canvas", async () => {
    const children = [
      background,
      layer([-5, -5, 9, 9], [255, 0, 0, 255]),
      layer([6, 6, 9, 9], [0, 9, 0, 255]),
    ];
    await expectDrawn(children, RED, [0, 9, 0, 255]);
  });

  test("apply alpha, opacity and fill opacity", async () => {
    await expectDrawn([background, covering([0, 0, 0, 128])], HALF, HALF);
    for (const half of [{ opacity: 0.5 }, { fillOpacity: 0.5 }]) {
      await expectDrawn([background, covering([0, 0, 0, 255], half)], HALF, HALF);
    }
    const quarter = covering([0, 0, 0, 255], { opacity: 0.5, fillOpacity: 0.5 });
    await expectDrawn([background, quarter], [150, 150, 150, 255], [150, 150, 150, 255]);
  });

  test("are not drawn when hidden", async () => {
    await expectDrawn([background, covering([0, 0, 0, 255], { hidden: true })], GREY, GREY);
  });

  test.each([{ psb: true }, { compress: true }])("are read when written with %o", async (options) => {
    const children = [background, layer([-5, -5, 9, 9], [255, 0, 0, 255])];
    await expectSeen(layeredPsd(SIZE, children, options), RED, GREY);
  });

  test("are drawn band by band when the canvas is large", async () => {
    const children = [
      layer([0, 0, 2048, 2500], [200, 200, 200, 255]),
      layer([0, 1000, 2048, 1200], [255, 0, 0, 255], {
        mask: { left: 0, top: 1100, defaultColor: 0, imageData: plain(2048, 1000, [255, 255, 255, 255]) },
      }),
    ];
    const read = await readPsdPixels(layeredPsd({ width: 2048, height: 2500 }, children));
    const rows = Array.from({ length: 2500 }, (_, y) => (read.at(1000, y)[1] === 0 ? "red" : "grey"));
    expect([rows.indexOf("red"), rows.lastIndexOf("red")]).toEqual([1100, 2099]);
    expect(rows.filter((row) => row === "red").length).toBe(1000);
  });
});

test.each([
  ["normal", [100, 50, 250]],
  ["dissolve", [100, 50, 250]],
  ["multiply", [78, 39, 196]],
  ["screen", [222, 211, 254]],
  ["darken", [100, 50, 200]],
  ["lighten", [200, 200, 250]],
  ["difference", [100, 150, 50]],
  ["exclusion", [143, 172, 58]],
  ["linear dodge", [255, 250, 255]],
  ["linear burn", [45, 0, 195]],
  ["color burn", [115, 0, 199]],
  ["color dodge", [255, 249, 255]],
  ["overlay", [188, 166, 253]],
  ["hard light", [157, 78, 253]],
  ["soft light", [191, 174, 224]],
  ["vivid light", [185, 115, 255]],
  ["linear light", [145, 45, 255]],
  ["pin light", [200, 100, 245]],
  ["hard mix", [255, 0, 255]],
  ["subtract", [100, 150, 0]],
  ["divide", [255, 255, 204]],
  // Over grey, hue and saturation have nothing to change.
  ["hue", [200, 200, 200]],
  ["saturation", [200, 200, 200]],
  ["color", [204, 188, 255]],
  ["luminosity", [87, 87, 87]],
  ["darker color", [100, 50, 250]],
  ["lighter color", [200, 200, 200]],
] as const)("composeLayers applies blend mode %s", async (blendMode, blended) => {
  const above = layer([0, 0, 4, 4], [100, 50, 250, 255], { blendMode });
  await expectDrawn([background, above], [...blended, 255], GREY);
  // The layer below shows through transparent pixels.
  const halfway = blended.map((sample) => (sample + 200) / 2);
  const half = layer([0, 0, 4, 4], [100, 50, 250, 128], { blendMode });
  await expectDrawn([background, half], [...halfway, 255], GREY);
  // Over transparency nothing is blended, and over half-transparent pixels half.
  await expectDrawn([above], [100, 50, 250, 255], [0, 0, 0, 0]);
  const mixed = [100, 50, 250].map((sample, channel) => (sample + (blended[channel] ?? 0)) / 2);
  await expectDrawn([covering([200, 200, 200, 128]), above], [...mixed, 255], [200, 200, 200, 128]);
});

describe("layer masks", () => {
  const mask = { left: 0, top: 0, imageData: plain(4, 4, [128, 128, 128, 255]) };

  test("hide the area outside them when it is black", async () => {
    const masked = covering([255, 0, 0, 255], { mask: { ...mask, defaultColor: 0 } });
    await expectDrawn([background, masked], [228, 100, 100, 255], GREY);
  });

  test("keep the area outside them when it is white", async () => {
    const masked = covering([255, 0, 0, 255], { mask: { ...mask, defaultColor: 255 } });
    await expectDrawn([background, masked], [228, 100, 100, 255], RED);
  });

  test("do nothing when they are disabled", async () => {
    const masked = covering([255, 0, 0, 255], { mask: { ...mask, defaultColor: 0, disabled: true } });
    await expectDrawn([background, masked], RED, RED);
  });

  test("are weakened by their density", async () => {
    const imageData = plain(4, 4, [0, 0, 0, 255]);
    const black = { ...mask, imageData, defaultColor: 255, userMaskDensity: 0.5 };
    await expectDrawn([background, covering([255, 0, 0, 255], { mask: black })], [228, 100, 100, 255], RED);
  });
});

describe("layer groups", () => {
  const multiplied = layer([0, 0, 4, 4], [100, 50, 250, 255], { blendMode: "multiply" });

  test("that pass through blend their layers with what is below", async () => {
    const group: Layer = { children: [multiplied], blendMode: "pass through" };
    await expectDrawn([background, group], [78, 39, 196, 255], GREY);
  });

  test("that are isolated do not blend their layers with what is below", async () => {
    const group: Layer = { children: [multiplied], blendMode: "normal" };
    await expectDrawn([background, group], [100, 50, 250, 255], GREY);
  });

  test("are blended as a whole, with their opacity", async () => {
    const children = [covering([255, 255, 255, 255]), covering([0, 0, 0, 255])];
    for (const blendMode of ["normal", "pass through"] as const) {
      await expectDrawn([background, { children, blendMode, opacity: 0.5 }], HALF, HALF);
    }
    const multiplying: Layer = { children: [covering([100, 50, 250, 255])], blendMode: "multiply" };
    await expectDrawn([background, multiplying], [78, 39, 196, 255], [78, 39, 196, 255]);
  });

  test("are masked as a whole", async () => {
    const mask = { left: 0, top: 0, defaultColor: 0, imageData: plain(4, 4, [255, 255, 255, 255]) };
    const group: Layer = { children: [covering([255, 0, 0, 255])], blendMode: "pass through", mask };
    await expectDrawn([background, group], RED, GREY);
  });

  test("hide their layers and nested groups when hidden", async () => {
    const inner = { children: [covering([255, 0, 0, 255])] };
    await expectDrawn([background, { children: [inner], hidden: true }], GREY, GREY);
    await expectDrawn([background, { children: [inner] }], RED, RED);
  });
});

describe("clipping layers", () => {
  const base = layer([0, 0, 4, 4], [255, 0, 0, 255]);

  test("limits a layer to the one below", async () => {
    const children = [background, base, covering([0, 0, 255, 255], { clipping: true, opacity: 0.5 })];
    await expectDrawn(children, [128, 0, 127, 255], GREY);
  });

  test("applies to all layers up to the next unclipped one", async () => {
    const clipped = [covering([0, 0, 255, 255]), covering([9, 9, 9, 255])].map((above) => ({
      ...above,
      clipping: true,
    }));
    await expectDrawn([background, base, ...clipped], [9, 9, 9, 255], GREY);
    const last = layer([4, 4, 4, 4], [1, 2, 3, 255]);
    await expectDrawn([background, base, ...clipped, last], [9, 9, 9, 255], [1, 2, 3, 255]);
  });

  test("hides layers clipped to a hidden layer", async () => {
    const children = [background, { ...base, hidden: true }, covering([0, 0, 255, 255], { clipping: true })];
    await expectDrawn(children, GREY, GREY);
  });
});

function luminosity([red, green, blue]: Rgb): number {
  return 0.3 * red + 0.59 * green + 0.11 * blue;
}

const COLOURS: Rgb[] = [
  [255, 0, 0],
  [10, 200, 90],
  [0, 0, 255],
  [255, 255, 255],
  [0, 0, 0],
  [120, 120, 120],
];
const pairs = COLOURS.flatMap((below) => COLOURS.map((above) => [below, above] as const));

test("mixing channels stays within the range, and takes the luminosity of one of the colours", () => {
  for (const [mode, mix] of Object.entries(channelMixers)) {
    for (const [below, above] of pairs) {
      const mixed = mix([...below], [...above]);
      for (const sample of mixed) {
        expect(sample, mode).toBeGreaterThanOrEqual(-0.001);
        expect(sample, mode).toBeLessThanOrEqual(255.001);
      }
      if (["hue", "saturation", "color"].includes(mode)) {
        expect(luminosity(mixed), mode).toBeCloseTo(luminosity(below));
      }
      if (mode === "luminosity") expect(luminosity(mixed)).toBeCloseTo(luminosity(above));
    }
  }
  expect(Object.keys(channelMixers)).toEqual(expect.arrayContaining(["hue", "color", "luminosity"]));
});
