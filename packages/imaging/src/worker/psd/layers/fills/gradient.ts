import { heightOf, type Rectangle, widthOf } from "../rectangle.ts";
import type { Samples } from "./colour.ts";

/** A gradient that fills a layer. Lengths are pixels. */
export interface Gradient {
  kind: "gradient";
  style: "linear" | "radial" | "angle" | "reflected" | "diamond";
  centre: { x: number; y: number };
  /** Direction, as a unit vector; y grows downwards. */
  direction: { x: number; y: number };
  /** Distance from the centre to the end of the gradient, more than 0. */
  radius: number;
  /** RGBA of each of {@link STEPS} positions. */
  colours: Uint8Array;
}

/** Positions of a gradient that have a colour of their own. Photoshop stores positions as 0 to 4096. */
const STEPS = 4097;

/** A colour or opacity at a position from 0 to 1. */
interface Stop {
  position: number;
  /** Where the mean with the next stop lies, as a share of the distance to it. */
  midpoint: number;
  values: readonly number[];
}

/** Tabulates a gradient. Both lists need at least one stop, in any order; positions and midpoints may be any number. */
export function tabulateColours(
  colours: readonly (Stop & { values: Samples })[],
  opacities: readonly Stop[],
  reverse: boolean,
): Uint8Array {
  const table = new Uint8Array(STEPS * 4);
  interpolate(colours, (step, channel, value) => {
    table[(reverse ? STEPS - 1 - step : step) * 4 + channel] = Math.round(value);
  });
  interpolate(opacities, (step, _, value) => {
    table[(reverse ? STEPS - 1 - step : step) * 4 + 3] = Math.round(value);
  });
  return table;
}

/** Passes through the steps once, however many stops there are. */
function interpolate(
  stops: readonly Stop[],
  set: (step: number, channel: number, value: number) => void,
): void {
  const sorted = stops.map(finite).toSorted((one, other) => one.position - other.position);
  let index = 0;
  for (let step = 0; step < STEPS; step++) {
    const position = step / (STEPS - 1);
    while ((sorted[index + 1]?.position ?? Number.POSITIVE_INFINITY) <= position) index++;
    const from = sorted[index];
    const to = sorted[index + 1] ?? from;
    if (from === undefined || to === undefined) return;
    const share = shareAt(position, from, to);
    for (const [channel, value] of from.values.entries()) {
      set(step, channel, value + ((to.values[channel] ?? 0) - value) * share);
    }
  }
}

/** The share of the second of two stops: at the midpoint it is half. */
function shareAt(position: number, from: Stop, to: Stop): number {
  if (position <= from.position || to.position <= from.position) return 0;
  const distance = (position - from.position) / (to.position - from.position);
  if (distance <= from.midpoint) return (0.5 * distance) / from.midpoint;
  return 0.5 + (0.5 * (distance - from.midpoint)) / (1 - from.midpoint);
}

function finite({ position, midpoint, values }: Stop): Stop {
  return {
    position: Math.min(1, Math.max(0, position || 0)),
    midpoint: Math.min(0.99, Math.max(0.01, midpoint || 0.5)),
    values,
  };
}

/**
 * The vector from the centre of a box to the end of a gradient: the edge of the box at this angle, counter-clockwise
 * from the right. A gradient of 45 degrees thus ends in the corners of a square, as in Photoshop.
 */
export function rayToEdge(
  box: Rectangle,
  degrees: number,
): { direction: Gradient["direction"]; radius: number } {
  const angle = ((degrees % 360) * Math.PI) / 180 || 0;
  const direction = { x: Math.cos(angle), y: -Math.sin(angle) };
  const toSide = widthOf(box) / 2 / Math.abs(direction.x);
  const toTop = heightOf(box) / 2 / Math.abs(direction.y);
  return { direction, radius: Math.min(toSide, toTop) };
}

/** Draws the part of a gradient within `area` as 8-bit RGBA. */
export function drawGradient(gradient: Gradient, area: Rectangle): Buffer {
  const { style, centre, direction, radius, colours } = gradient;
  const pixels = Buffer.allocUnsafe(widthOf(area) * heightOf(area) * 4);
  const positionOf = positions[style];
  let to = 0;
  for (let y = area.top; y < area.bottom; y++) {
    const down = (y + 0.5 - centre.y) / radius;
    for (let x = area.left; x < area.right; x++, to += 4) {
      const right = (x + 0.5 - centre.x) / radius;
      const along = right * direction.x + down * direction.y;
      const across = down * direction.x - right * direction.y;
      const position = positionOf(along, across);
      const from =
        position <= 0 ? 0 : position >= 1 ? (STEPS - 1) * 4 : Math.round(position * (STEPS - 1)) * 4;
      pixels[to] = colours[from] ?? 0;
      pixels[to + 1] = colours[from + 1] ?? 0;
      pixels[to + 2] = colours[from + 2] ?? 0;
      pixels[to + 3] = colours[from + 3] ?? 0;
    }
  }
  return pixels;
}

/** Positions in a gradient by distances from its centre, along and across its direction, in radii. */
const positions: Record<Gradient["style"], (along: number, across: number) => number> = {
  linear: (along) => (along + 1) / 2,
  radial: (along, across) => Math.sqrt(along * along + across * across),
  // Clockwise from the direction.
  angle: (along, across) => {
    const turn = Math.atan2(across, along) / (2 * Math.PI);
    return turn < 0 ? turn + 1 : turn;
  },
  reflected: Math.abs,
  diamond: (along, across) => Math.abs(along) + Math.abs(across),
};
