import type { Layer } from "ag-psd";
import { layer, layeredPsd, plain } from "../../support/layered-psd.ts";
import { layerSection } from "../../support/psd-layer-section.ts";
import { samplePsd } from "../../support/psd-samples.ts";
import { channelsOf, PSD_SIZE as SIZE } from "./psd-channels.ts";
import { type Sample, sample, sceneRgba } from "./sample.ts";

/** Pixels of the scene as ag-psd takes them. */
export function scenePixels(width: number, height: number): NonNullable<Layer["imageData"]> {
  return { width, height, data: new Uint8ClampedArray(sceneRgba(width, height)) };
}

const BLEND_MODES = [
  "normal",
  "dissolve",
  "darken",
  "multiply",
  "color burn",
  "linear burn",
  "darker color",
  "lighten",
  "screen",
  "color dodge",
  "linear dodge",
  "lighter color",
  "overlay",
  "soft light",
  "hard light",
  "vivid light",
  "linear light",
  "pin light",
  "hard mix",
  "difference",
  "exclusion",
  "subtract",
  "divide",
  "hue",
  "saturation",
  "color",
  "luminosity",
] as const;

/** Documents without a merged picture. */
export function layers(): Sample[] {
  const found: Sample[] = [];
  const { width, height } = SIZE;
  const scene = { imageData: scenePixels(width, height) };
  const put = (name: string, children: Layer[], options = {}) =>
    found.push(sample("psd", `layers, ${name}`, layeredPsd(SIZE, children, options)));
  for (const blendMode of BLEND_MODES) {
    put(`blend ${blendMode}`, [layer([0, 0, width, height], [200, 180, 160, 255]), { ...scene, blendMode }]);
    put(`blend ${blendMode} at half`, [
      { ...scene },
      layer([4, 4, 30, 20], [90, 160, 40, 255], { blendMode, opacity: 0.5 }),
    ]);
  }
  for (const psb of [false, true]) {
    for (const compress of [false, true]) {
      const form = `${psb ? "PSB" : "PSD"}${compress ? " zip" : ""}`;
      const mask = { left: 4, top: 4, defaultColor: 0, imageData: plain(20, 20, [180, 180, 180, 255]) };
      put(`one, ${form}`, [scene], { psb, compress });
      put(`mask, ${form}`, [{ ...scene, mask }], { psb, compress });
      put(`disabled mask, ${form}`, [{ ...scene, mask: { ...mask, disabled: true } }], { psb, compress });
      put(
        `group, ${form}`,
        [{ name: "Group", children: [scene, layer([9, 9, 9, 9], [0, 0, 0, 255])], opacity: 0.6 }],
        { psb, compress },
      );
      put(`hidden, ${form}`, [scene, layer([9, 9, 9, 9], [0, 0, 0, 255], { hidden: true })], {
        psb,
        compress,
      });
      put(
        `beside the canvas, ${form}`,
        [scene, layer([-9, -9, 20, 20], [0, 0, 255, 255]), layer([40, 30, 20, 20], [255, 0, 0, 99])],
        { psb, compress },
      );
      put(`clipping, ${form}`, [layer([5, 5, 30, 20], [200, 200, 0, 255]), { ...scene, clipping: true }], {
        psb,
        compress,
      });
      put(
        `nested groups, ${form}`,
        [{ children: [{ children: [scene], blendMode: "pass through" }], blendMode: "multiply" }],
        { psb, compress },
      );
    }
  }
  for (const depth of [8, 16, 32] as const) {
    for (const compression of ["raw", "packed", "zip", "predicted"] as const) {
      const samples = (values: readonly number[]) =>
        Object.fromEntries(
          values.map((value, index) => [
            index - 1,
            depth === 32 ? value : Math.round(value * (2 ** depth - 1)),
          ]),
        );
      const section = layerSection(
        [
          { ...SIZE, samples: samples([1, 0.2, 0.5, 0.9]), compression },
          { left: 6, top: 6, width: 20, height: 12, samples: samples([0.6, 1, 0.3, 0.1]), compression },
        ],
        depth,
      );
      const blank = channelsOf("rgb", depth, 3).map((channel) =>
        channel.map(() => (depth === 32 ? 1 : 2 ** depth - 1)),
      );
      const bytes = samplePsd({ ...SIZE, depth, channels: blank, layers: section, hasMergedPicture: false });
      found.push(sample("psd", `layers, ${depth} bits, ${compression}`, bytes));
    }
  }
  return found;
}

/** Layers of fills without pixels, as Photoshop stores them. */
export function fills(): Sample[] {
  const colour = { r: 200, g: 60, b: 20 };
  const stops = (name: string, more: object) => ({
    type: "solid" as const,
    name,
    colorStops: [
      { color: colour, location: 0, midpoint: 0.5 },
      { color: { r: 20, g: 90, b: 220 }, location: 1, midpoint: 0.5 },
    ],
    opacityStops: [
      { opacity: 1, location: 0, midpoint: 0.5 },
      { opacity: 1, location: 1, midpoint: 0.5 },
    ],
    ...more,
  });
  const gradient = (
    style: "linear" | "radial" | "angle" | "reflected" | "diamond",
    angle: number,
  ): Layer => ({
    name: style,
    vectorFill: stops(style, { style, angle, align: true, scale: 1 }) as NonNullable<Layer["vectorFill"]>,
  });
  const forms: Record<string, Layer[]> = {
    solid: [{ name: "Colour", vectorFill: { type: "color", color: colour } }],
    "solid at half": [{ name: "Colour", vectorFill: { type: "color", color: colour }, opacity: 0.5 }],
    "solid below pixels": [
      { name: "Colour", vectorFill: { type: "color", color: colour } },
      layer([8, 8, 20, 20], [10, 200, 90, 255]),
    ],
    "linear gradient, 90 degrees": [gradient("linear", 90)],
    "linear gradient, 0 degrees": [gradient("linear", 0)],
    "linear gradient, 30 degrees": [gradient("linear", 30)],
    "radial gradient": [gradient("radial", 0)],
    "reflected gradient": [gradient("reflected", 90)],
    "diamond gradient": [gradient("diamond", 90)],
    "angle gradient": [gradient("angle", 0)],
  };
  return Object.entries(forms).map(([name, children]) =>
    sample("psd", `fills, ${name}`, layeredPsd(SIZE, children)),
  );
}
