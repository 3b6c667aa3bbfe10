import type { Layer, VectorContent } from "ag-psd";
import sharp from "sharp";
import { expect, test } from "vitest";
import { layer, layeredPsd, plain } from "./support/layered-psd.ts";
import { meanDifference, type Rgba, readWithOurs, readWithPsdTools } from "./support/psd-oracles.ts";

// In a square: psd-tools takes the width for the length of a vertical gradient, Photoshop and Krita the height.
const SIZE = { width: 96, height: 96 };

type GradientContent = Extract<VectorContent, { type: "solid" }>;

function gradient(style: NonNullable<GradientContent["style"]>, more: Partial<GradientContent> = {}): Layer {
  return {
    vectorFill: {
      type: "solid",
      name: "",
      style,
      scale: 1,
      angle: 0,
      reverse: false,
      align: true,
      offset: { x: 0, y: 0 },
      smoothness: 1,
      colorStops: [
        { color: { r: 250, g: 30, b: 20 }, location: 0, midpoint: 0.5 },
        { color: { r: 20, g: 200, b: 60 }, location: 0.4, midpoint: 0.5 },
        { color: { r: 10, g: 40, b: 240 }, location: 1, midpoint: 0.5 },
      ],
      opacityStops: [
        { opacity: 1, location: 0, midpoint: 0.5 },
        { opacity: 1, location: 1, midpoint: 0.5 },
      ],
      ...more,
    },
  };
}

function solid(r: number, g: number, b: number, more: Layer = {}): Layer {
  return { vectorFill: { type: "color", color: { r, g, b } }, ...more };
}

async function blurred({ width, height, data }: Rgba): Promise<Rgba> {
  const image = sharp(data, { raw: { width, height, channels: 4 } }).blur(1.2);
  return { width, height, data: await image.raw().toBuffer() };
}

/** The mean difference of our drawing and that of psd-tools, as a share of the range. */
async function shareFrom(bytes: Buffer): Promise<number> {
  const ours = await blurred(await readWithOurs(bytes));
  const theirs = await blurred(await readWithPsdTools(bytes, "layers"));
  return meanDifference(ours, theirs) / 255;
}

const opacityStops = [0.2, 1].map((opacity, location) => ({ opacity, location, midpoint: 0.5 }));
const mask = { left: 20, top: 10, defaultColor: 0, imageData: plain(60, 50, [160, 160, 160, 255]) };
const corners = [
  [20, 12],
  [100, 12],
  [100, 70],
  [20, 70],
] as const;
const vectorMask: NonNullable<Layer["vectorMask"]> = {
  paths: [
    {
      open: false,
      fillRule: "even-odd",
      operation: "combine",
      knots: corners.map(([x, y]) => ({ linked: false, points: [x - 5, y + 4, x, y, x + 5, y - 4] })),
    },
  ],
};
const pattern = {
  name: "p",
  id: "11111111-2222-3333-4444-555555555555",
  x: 0,
  y: 0,
  bounds: { x: 0, y: 0, w: 7, h: 5 },
  data: Uint8Array.from({ length: 7 * 5 * 4 }, (_, index) => (index % 4 === 3 ? 255 : (index * 37) % 256)),
};
const patternFill: Layer = { vectorFill: { type: "pattern", name: pattern.name, id: pattern.id } };

// Between the axes psd-tools ends gradients before the edge of the box; Photoshop and Krita end them there.
test.each<[string, Layer[]]>([
  ["a colour", [solid(200, 120, 40)]],
  ["two colours of which one is masked", [solid(200, 120, 40), solid(10, 90, 200, { mask, opacity: 0.7 })]],
  ["a colour with blend mode", [solid(200, 120, 40), solid(90, 190, 220, { blendMode: "multiply" })]],
  ["a clipped colour", [solid(200, 120, 40, { mask }), solid(10, 90, 200, { clipping: true, opacity: 0.5 })]],
  ["a colour with a vector mask", [solid(200, 200, 200), solid(10, 90, 200, { vectorMask })]],
  ...[0, 90, 180, 270].map((angle): [string, Layer[]] => [
    `a linear gradient of ${angle} degrees`,
    [gradient("linear", { angle })],
  ]),
  ["a linear gradient, reversed and scaled", [gradient("linear", { reverse: true, scale: 0.6 })]],
  ["a linear gradient with opacity", [solid(90, 90, 90), gradient("linear", { opacityStops })]],
  ["a gradient over transparency", [gradient("linear", { opacityStops })]],
  ["a radial gradient", [gradient("radial")]],
  ["a radial gradient, scaled", [gradient("radial", { scale: 0.5, angle: 90 })]],
  ["an angle gradient", [gradient("angle")]],
  ["an angle gradient of 90 degrees", [gradient("angle", { angle: 90 })]],
  ["an angle gradient of -30 degrees, reversed", [gradient("angle", { angle: -30, reverse: true })]],
  ["a reflected gradient", [gradient("reflected")]],
  ["a reflected gradient of 90 degrees", [gradient("reflected", { angle: 90 })]],
  ["a diamond gradient", [gradient("diamond")]],
  ["a gradient with a vector mask", [solid(255, 255, 255), { ...gradient("linear"), vectorMask }]],
  ["a pattern", [patternFill]],
  ["a pattern over pixels", [layer([0, 0, 96, 96], [9, 90, 9, 255]), { ...patternFill, opacity: 0.5 }]],
])("a file of fills is drawn as psd-tools draws it: %s", async (_, children) => {
  for (const psb of [false, true]) {
    const share = await shareFrom(layeredPsd({ ...SIZE, patterns: [pattern] }, children, { psb }));
    expect(share).toBeLessThanOrEqual(0.02);
  }
});

// Its hue and saturation are not those of ISO 32000-1.
test.each(["color", "luminosity", "darker color", "lighter color"] as const)(
  "layers blended by %s are drawn as psd-tools draws them",
  async (blendMode) => {
    const children = [
      gradient("linear"),
      { ...gradient("reflected", { angle: 90 }), blendMode },
      solid(90, 190, 20, { blendMode, opacity: 0.6, mask }),
    ];
    expect(await shareFrom(layeredPsd(SIZE, children))).toBeLessThanOrEqual(0.02);
  },
);
