import type { VectorContent } from "ag-psd";
import type { PsdHeader } from "../../psd-header.ts";
import { areaOf, type Rectangle } from "../rectangle.ts";
import { documentColour, fromRgb, type Samples } from "./colour.ts";
import { type Gradient, rayToEdge, tabulateColours } from "./gradient.ts";
import type { Pattern } from "./pattern.ts";
import type { StoredPattern } from "./read-patterns.ts";

/** One colour. */
interface Solid {
  kind: "solid";
  colour: Samples;
}

/** The filling of a layer. */
export type Paint = Solid | Gradient | Pattern;

/** The surroundings in which a filling is read. */
export interface PaintContext {
  header: PsdHeader;
  /** The channels of the document to draw: three, or one that is drawn as grey. */
  channels: readonly number[];
  /** The whole canvas. */
  canvas: Rectangle;
  /** The layer's own box, with which a gradient is aligned. */
  box: Rectangle;
  findPattern(id: string): StoredPattern | null;
  /** Scale and angle of the pattern, which ag-psd does not read. */
  patternShape: { scale: number; angle: number };
}

/** Offsets of gradients beyond this share of the canvas are not genuine. */
const MAX_OFFSET = 100;

/** Reads the filling of a layer, or the reason why it cannot be drawn. */
export function readPaint(content: VectorContent, context: PaintContext): Paint | string {
  const { header, channels } = context;
  const pick = (samples: readonly number[]): Samples => {
    const [first = 0, second = first, third = first] = channels.map((channel) => samples[channel] ?? 0);
    return [first, second, third];
  };
  switch (content.type) {
    case "color":
      return { kind: "solid", colour: pick(documentColour(content.color, header)) };
    case "noise":
      return "a noise gradient";
    case "pattern": {
      const stored = context.findPattern(content.id);
      if (stored === null) return "a pattern that it does not contain";
      const { x = 0, y = 0 } = content.phase ?? {};
      const origin = { x: finite(x), y: finite(y) };
      const convert = (pixel: readonly number[]) => pick(patternColour(pixel, stored, header));
      return { kind: "pattern", stored, ...context.patternShape, origin, convert };
    }
    default:
      return readGradient(content, context, pick);
  }
}

function readGradient(
  content: Extract<VectorContent, { type: "solid" }>,
  { header, canvas, box }: PaintContext,
  pick: (samples: readonly number[]) => Samples,
): Gradient | string {
  const { style = "linear", scale = 1, angle = 0, align = true, reverse = false } = content;
  const { colorStops, opacityStops, offset, smoothness } = content;
  if (colorStops.length === 0) return "a gradient without colours";
  // ag-psd divides positions by the smoothness of the gradient, of which they do not depend.
  const unit = smoothness || 1;
  const frame = align && areaOf(box) > 0 ? box : canvas;
  const { direction, radius } = rayToEdge(frame, finite(angle));
  const colours = colorStops.map(({ color, location, midpoint }) => ({
    position: location * unit,
    midpoint,
    values: pick(documentColour(color, header)),
  }));
  const opacities = opacityStops.map(({ opacity, location, midpoint }) => ({
    position: location * unit,
    midpoint,
    values: [Math.min(1, Math.max(0, opacity || 0)) * 255],
  }));
  const opaque = { position: 0, midpoint: 0.5, values: [255] };
  return {
    kind: "gradient",
    style,
    centre: {
      x: (frame.left + frame.right) / 2 + shareOf(offset?.x) * (frame.right - frame.left),
      y: (frame.top + frame.bottom) / 2 + shareOf(offset?.y) * (frame.bottom - frame.top),
    },
    direction,
    // A gradient of no length becomes one of a fraction of a pixel.
    radius: Math.max(1 / 256, radius * Math.max(0, finite(scale))),
    colours: tabulateColours(colours, opacities.length === 0 ? [opaque] : opacities, reverse),
  };
}

function shareOf(offset: number | undefined): number {
  return Math.min(MAX_OFFSET, Math.max(-MAX_OFFSET, offset || 0));
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

/** A pixel of a pattern as samples of the document. */
function patternColour(
  pixel: readonly number[],
  { mode }: StoredPattern,
  { mode: documentMode, depth }: PsdHeader,
): readonly number[] {
  if (mode === documentMode) return pixel;
  const [first = 0, second = first, third = first, black = 0] = pixel;
  if (mode === "rgb" || mode === "indexed" || mode === "greyscale") {
    return fromRgb([first, second, third], documentMode);
  }
  const colour =
    mode === "lab"
      ? { l: first / 2.55, a: second - 128, b: third - 128 }
      : { c: percent(first), m: percent(second), y: percent(third), k: percent(black) };
  return documentColour(colour, { mode: documentMode, depth });
}

/** The amount of an ink that leaves this light. */
function percent(light: number): number {
  return 100 - light / 2.55;
}
