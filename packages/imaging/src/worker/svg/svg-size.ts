import type { Size } from "@outrigger/core";
import { unreadable } from "../unreadable.ts";
import type { SvgRoot } from "./svg-root.ts";

/** Width and height in user units, 72 to the inch, not rounded. */
export interface ExactSize {
  width: number;
  height: number;
}

/** A `viewBox` with an area. */
export interface ViewBox extends ExactSize {
  x: number;
  y: number;
}

/** The longest side of a drawing that librsvg and cairo can address. */
const MAX_SIDE = 32_767;

/** Longer sides, which only a mistake or an attack declares, are taken for this. */
const MAX_DECLARED_SIDE = 1e9;

/** User units in one of each unit that depends on nothing. */
const unitsOf = new Map([
  ["", 1],
  ["px", 1],
  ["pt", 1],
  ["pc", 12],
  ["in", 72],
  ["cm", 72 / 2.54],
  ["mm", 72 / 25.4],
  ["rem", 12],
]);

/** Relative to a window, of which there is none: as good as absent. */
const windowUnits = new Set(["%", "vw", "vh", "vmin", "vmax"]);

const NUMBER = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?/i.source;
const LENGTH = new RegExp(`^\\s*(${NUMBER})([a-z]*|%)\\s*$`, "i");
const VIEW_BOX = new RegExp(
  `^\\s*(${NUMBER})[\\s,]+(${NUMBER})[\\s,]+(${NUMBER})[\\s,]+(${NUMBER})\\s*$`,
  "i",
);

/**
 * The size that a root element declares, as librsvg takes it at 72 dpi: `width` and `height`; for one of them that is
 * absent or relative, what the shape of the `viewBox` makes of the other; without both, the `viewBox`. `undefined` where
 * only librsvg can tell, for want of all that or because a style sheet has a say. Throws `unsupported_media` for a side
 * that is zero or negative.
 */
export function declaredSize(root: SvgRoot): ExactSize | undefined {
  if (isSizedByCss(root)) return undefined;
  const width = readLength(root, "width");
  const height = readLength(root, "height");
  if (width === "unknown" || height === "unknown") return undefined;
  if (width !== undefined && height !== undefined) return bounded(width, height);
  const viewBox = readViewBox(root);
  if (viewBox === undefined) return undefined;
  if (width !== undefined) return bounded(width, (width * viewBox.height) / viewBox.width);
  if (height !== undefined) return bounded((height * viewBox.width) / viewBox.height, height);
  return bounded(viewBox.width, viewBox.height);
}

function bounded(width: number, height: number): ExactSize {
  return { width: Math.min(width, MAX_DECLARED_SIDE), height: Math.min(height, MAX_DECLARED_SIDE) };
}

/** Whole pixels, at least one a side, and of the same shape within what can be drawn. */
export function wholeSize({ width, height }: ExactSize): Size {
  const scale = Math.min(1, MAX_SIDE / Math.max(width, height));
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
}

/** `undefined` where there is none, or one that is invalid or without an area and therefore left out of account. */
export function readViewBox({ attributes }: SvgRoot): ViewBox | undefined {
  const found = VIEW_BOX.exec(attributes.get("viewBox") ?? "");
  if (found === null) return undefined;
  const [x = 0, y = 0, width = 0, height = 0] = found.slice(1).map(Number);
  return width > 0 && height > 0 && Number.isFinite(width * height) ? { x, y, width, height } : undefined;
}

/** Whether CSS gives the root a size, which then prevails over its attributes. */
export function isSizedByCss({ attributes, content }: SvgRoot): boolean {
  const sizes = /(?<![-\w])(?:width|height)\s*:/i;
  if (sizes.test(attributes.get("style") ?? "")) return true;
  let end = 0;
  for (let at = content.indexOf("<style"); at >= 0; at = content.indexOf("<style", end)) {
    end = content.indexOf("</style>", at);
    if (end < 0) break;
    if (sizes.test(content.toString("utf8", at, end))) return true;
  }
  return false;
}

/** In user units; `undefined` for what is absent, relative to a window or no length; `unknown` for librsvg to resolve. */
function readLength({ attributes }: SvgRoot, name: "width" | "height"): number | "unknown" | undefined {
  const written = attributes.get(name);
  const [, number, unit = ""] = LENGTH.exec(written ?? "") ?? [];
  if (number === undefined) return written?.includes("(") ? "unknown" : undefined;
  if (windowUnits.has(unit.toLowerCase())) return undefined;
  const value = Number(number);
  if (!(value > 0)) throw unreadable("image/svg+xml", `its ${name} is ${value < 0 ? "negative" : "zero"}`);
  const units = unitsOf.get(unit.toLowerCase());
  return units === undefined ? "unknown" : value * units;
}
