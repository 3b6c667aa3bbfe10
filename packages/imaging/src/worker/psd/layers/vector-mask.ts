import type { LayerVectorMask } from "ag-psd";
import sharp from "sharp";
import { unreadablePsd } from "../psd-header.ts";
import { areaOf, heightOf, type Rectangle, widthOf } from "./rectangle.ts";

/** A mask of paths, in pixels of the canvas. */
export interface VectorMask {
  /** Shapes in the order in which they are combined. */
  shapes: readonly Shape[];
  inverted: boolean;
  /** Whether the mask shows everything before its first shape. */
  startsFull: boolean;
  /** Strength of the mask, 0 to 1. */
  density: number;
  /** Points of all paths. */
  points: number;
  /** The area around the points on all paths; empty without points. */
  bounds: Rectangle;
}

/** Paths that are drawn together and then combined with what is below. */
interface Shape {
  operation: "exclude" | "combine" | "subtract" | "intersect";
  paths: { data: string; evenOdd: boolean }[];
}

/** Coordinates further away cannot be seen and would only slow the drawing. */
const FARTHEST = 1_000_000;

/** Converts a mask of ag-psd. Returns `null` for a mask that shows the whole layer. */
export function convertVectorMask(
  { paths, invert = false, disable = false, fillStartsWithAllPixels = false }: LayerVectorMask,
  density: number,
): VectorMask | null {
  if (disable || (paths.length === 0 && !invert)) return null;
  const shapes: Shape[] = [];
  for (const path of paths) {
    const knots = path.knots.map(({ points }) => points.map(coordinate));
    const last = shapes.at(-1);
    const lastPath = last?.paths.at(-1);
    // A path without an operation continues the one before it: it may be a hole.
    if (path.operation === undefined && lastPath !== undefined) lastPath.data += pathData(knots);
    else {
      const { operation = "combine", fillRule } = path;
      const drawn = { data: pathData(knots), evenOdd: fillRule === "even-odd" };
      // To add or subtract one path after the other is to add or subtract both.
      const continues =
        operation === last?.operation && (operation === "combine" || operation === "subtract");
      if (continues) last.paths.push(drawn);
      else shapes.push({ operation, paths: [drawn] });
    }
  }
  const first = shapes[0]?.operation;
  const anchors = paths.flatMap(({ knots }) => knots.map(({ points }) => points.slice(2, 4).map(coordinate)));
  return {
    shapes,
    inverted: invert,
    startsFull: shapes.length === 0 ? fillStartsWithAllPixels : first === "subtract" || first === "intersect",
    density,
    points: anchors.length,
    bounds: boundsOf(anchors),
  };
}

/** Whole and tenths of pixels suffice. */
function coordinate(value: number): number {
  return Math.round(Math.min(FARTHEST, Math.max(-FARTHEST, value || 0)) * 100) / 100;
}

/** Each knot has a control point before it, itself, and a control point after it. */
function pathData(knots: readonly number[][]): string {
  const [first] = knots;
  if (first === undefined) return "";
  const curves = knots.map((knot, index) => {
    const next = knots[index + 1] ?? first;
    return `C${knot.slice(4, 6)} ${next.slice(0, 2)} ${next.slice(2, 4)}`;
  });
  return `M${first.slice(2, 4)}${curves.join("")}Z`;
}

function boundsOf(anchors: readonly number[][]): Rectangle {
  const bounds = { left: FARTHEST, top: FARTHEST, right: -FARTHEST, bottom: -FARTHEST };
  for (const [x = 0, y = 0] of anchors) {
    bounds.left = Math.min(bounds.left, Math.round(x));
    bounds.top = Math.min(bounds.top, Math.round(y));
    bounds.right = Math.max(bounds.right, Math.round(x));
    bounds.bottom = Math.max(bounds.bottom, Math.round(y));
  }
  return bounds;
}

/** Points and shapes of a mask that take no more than a second to draw. */
const MAX_POINTS = 20_000;
const MAX_SHAPES = 256;
/** The largest side that librsvg draws is 32,767 pixels. */
const MAX_SIDE = 30_000;

/**
 * Checks that a mask can be drawn within `area`. Returns the pixels that drawing it takes. Throws `unsupported_media`.
 */
export function checkVectorMask({ shapes, points }: VectorMask, area: Rectangle): number {
  if (points > MAX_POINTS || shapes.length > MAX_SHAPES) {
    throw unreadablePsd(`it holds no merged picture and a vector mask of more than ${MAX_POINTS} points`);
  }
  if (Math.max(widthOf(area), heightOf(area)) > MAX_SIDE) {
    throw unreadablePsd(
      `it holds no merged picture and a vector mask wider or higher than ${MAX_SIDE} pixels`,
    );
  }
  return areaOf(area) * shapes.length;
}

/** Applies a mask to the alpha of RGBA pixels of an area. */
export async function applyVectorMask(pixels: Buffer, area: Rectangle, mask: VectorMask): Promise<void> {
  const coverage = Buffer.alloc(areaOf(area), mask.startsFull ? 255 : 0);
  for (const shape of mask.shapes) combine(coverage, await drawShape(shape, area), shape.operation);
  if (mask.inverted) for (const [index, covered] of coverage.entries()) coverage[index] = 255 - covered;
  applyCoverage(pixels, coverage, mask.density);
}

/** Multiplies the alpha of RGBA pixels with a coverage, of which `density` counts. */
export function applyCoverage(pixels: Buffer, coverage: Buffer, density: number): void {
  for (const [index, covered] of coverage.entries()) {
    const share = 255 * (1 - density) + covered * density;
    pixels[index * 4 + 3] = Math.round(((pixels[index * 4 + 3] ?? 0) * share) / 255);
  }
}

function combine(coverage: Buffer, shape: Buffer, operation: Shape["operation"]): void {
  for (let index = 0; index < coverage.length; index++) {
    const [below, above] = [coverage[index] ?? 0, shape[index] ?? 0];
    const both = Math.round((below * above) / 255);
    if (operation === "intersect") coverage[index] = both;
    else if (operation === "subtract") coverage[index] = below - both;
    else coverage[index] = below + above - (operation === "exclude" ? 2 * both : both);
  }
}

/** One byte for each pixel. */
async function drawShape({ paths }: Shape, area: Rectangle): Promise<Buffer> {
  const [width, height] = [widthOf(area), heightOf(area)];
  const drawn = paths.map(
    ({ data, evenOdd }) => `<path fill-rule="${evenOdd ? "evenodd" : "nonzero"}" d="${data}"/>`,
  );
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="${area.left} ${area.top} ${width} ${height}">${drawn.join("")}</svg>`;
  return await sharp(Buffer.from(svg), { limitInputPixels: width * height })
    .extractChannel("alpha")
    .raw()
    .toBuffer();
}
