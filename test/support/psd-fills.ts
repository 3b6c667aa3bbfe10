import type { Color, Layer, VectorContent } from "ag-psd";
import { openPsd } from "../../packages/imaging/src/worker/psd/open-psd.ts";

/** A canvas for fills. */
export const SIZE = { width: 64, height: 64 };
export const RED = { r: 255, g: 0, b: 0 };
export const BLACK = { r: 0, g: 0, b: 0 };
export const WHITE = { r: 255, g: 255, b: 255 };

/** A layer without pixels. */
export function fill(vectorFill: VectorContent, more: Layer = {}): Layer {
  return { vectorFill, ...more };
}

export function solid(color: Color, more: Layer = {}): Layer {
  return fill({ type: "color", color }, more);
}

export type GradientContent = Extract<VectorContent, { type: "solid" }>;

/** Black to white from the left to the right. */
export function gradient(more: Partial<GradientContent> = {}): GradientContent {
  return {
    type: "solid",
    name: "",
    style: "linear",
    scale: 1,
    angle: 0,
    reverse: false,
    align: true,
    offset: { x: 0, y: 0 },
    smoothness: 1,
    colorStops: [
      { color: BLACK, location: 0, midpoint: 0.5 },
      { color: WHITE, location: 1, midpoint: 0.5 },
    ],
    opacityStops: [
      { opacity: 1, location: 0, midpoint: 0.5 },
      { opacity: 1, location: 1, midpoint: 0.5 },
    ],
    ...more,
  };
}

/** The error that opening a file rejects with, or `null`. */
export async function refusal(bytes: Buffer): Promise<unknown> {
  return await openPsd(bytes, { maxPixels: 100_000 }).then(
    () => null,
    (error: unknown) => error,
  );
}
