import type { Size } from "@outrigger/core/images";
import { unreadable } from "../picture.ts";
import { cleanSvg } from "./clean-svg.ts";
import { escapeAttribute, unescapeAttribute } from "./svg-writer.ts";

/** A clean document, split after its first tag. */
export interface SvgRoot {
  /** Attributes of the root element in order, namespaces included. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Whether the root is an empty-element tag and the whole document. */
  readonly isEmpty: boolean;
  /** The bytes after the first tag. */
  readonly content: Buffer;
}

/** The start of a clean document, with only the references that cleaning writes. */
const START_TAG =
  /^<svg((?: [A-Za-z][\w:.-]*="[^"<>&]*(?:&(?:amp|lt|gt|quot|#9|#10|#13);[^"<>&]*)*")*)(\/?)>$/;
const ATTRIBUTE = / ([^=]+)="([^"]*)"/g;

/** Reads the root of a document. If the document does not begin like a clean one, it is cleaned first. */
export function readSvgRoot(bytes: Buffer): SvgRoot {
  const root = splitAtRoot(bytes) ?? splitAtRoot(cleanSvg(bytes));
  if (root === undefined) throw unreadable("image/svg+xml", "its root element is not svg");
  return root;
}

/** A root with some attributes replaced or added. */
export function withRootAttributes(root: SvgRoot, changes: Readonly<Record<string, string>>): SvgRoot {
  return { ...root, attributes: new Map([...root.attributes, ...Object.entries(changes)]) };
}

/** The whole document. */
export function writeSvgRoot({ attributes, isEmpty, content }: SvgRoot): Buffer {
  let tag = "<svg";
  for (const [name, value] of attributes) tag += ` ${name}="${escapeAttribute(value)}"`;
  return Buffer.concat([Buffer.from(`${tag}${isEmpty ? "/" : ""}>`), content]);
}

function splitAtRoot(bytes: Buffer): SvgRoot | undefined {
  const tagBytes = bytes.indexOf(">") + 1;
  const [, attributes, slash] = START_TAG.exec(bytes.toString("utf8", 0, tagBytes)) ?? [];
  if (attributes === undefined) return undefined;
  return {
    attributes: new Map(
      [...attributes.matchAll(ATTRIBUTE)].map(([, name = "", value = ""]) => [
        name,
        unescapeAttribute(value),
      ]),
    ),
    isEmpty: slash === "/",
    content: bytes.subarray(tagBytes),
  };
}

/** Width and height in user units, 72 per inch, not rounded. */
export interface ExactSize {
  width: number;
  height: number;
}

/** A `viewBox`. */
interface ViewBox extends ExactSize {
  x: number;
  y: number;
}

/** The longest side of a drawing that librsvg and cairo can address. */
const MAX_SIDE = 32_767;

/** Longer sides, which are mistakes or attacks, are clamped to this. */
const MAX_DECLARED_SIDE = 1e9;

/** User units per absolute unit. */
const unitsOf = new Map([
  ["", 1],
  ["px", 1],
  ["pt", 1],
  ["pc", 12],
  ["in", 72],
  ["cm", 72 / 2.54],
  ["mm", 72 / 25.4],
  ["q", 72 / 101.6],
]);

/** Font units by their share of the font size. Those of characters depend on the font; this is librsvg's estimate. */
const fontUnits = new Map([
  ["em", 1],
  ["rem", 1],
  ["ex", 0.5],
  ["ch", 0.5],
]);
/** The font size of browsers in user units. That of librsvg is 12. */
const FONT_SIZE = 16;
const FONT_STYLE = /(?<![-\w])font(?:-size)?\s*:/i;

/** Units relative to a window. There is none, so these lengths are ignored. */
const windowUnits = new Set(["%", "vw", "vh", "vmin", "vmax"]);

const NUMBER = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?/i.source;
const LENGTH = new RegExp(`^\\s*(${NUMBER})([a-z]*|%)\\s*$`, "i");
const VIEW_BOX = new RegExp(
  `^\\s*(${NUMBER})[\\s,]+(${NUMBER})[\\s,]+(${NUMBER})[\\s,]+(${NUMBER})\\s*$`,
  "i",
);

/**
 * The size that a root element declares, computed as librsvg does at 72 dpi. It is `width` and `height`; if one is
 * absent or relative, it follows from the other and the `viewBox`; without both, it is the `viewBox`. `undefined` if
 * only librsvg can compute it: nothing of this is declared, or a style sheet sets the size. Throws `unsupported_media`
 * for a side that is zero or negative.
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

/** The size in whole pixels, at least one per side, scaled down to what can be drawn. */
export function wholeSize({ width, height }: ExactSize): Size {
  const scale = Math.min(1, MAX_SIDE / Math.max(width, height));
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
}

/** The `viewBox`; `undefined` when it is missing, invalid or without area. */
export function readViewBox(root: SvgRoot): ViewBox | undefined {
  const { x = 0, y = 0, width = 0, height = 0 } = writtenViewBox(root) ?? {};
  return width > 0 && height > 0 && Number.isFinite(width * height) ? { x, y, width, height } : undefined;
}

/** Whether the `viewBox` has a side of zero, which means that nothing is drawn. */
export function isUndrawn(root: SvgRoot): boolean {
  const { width, height } = writtenViewBox(root) ?? {};
  return width === 0 || height === 0;
}

function writtenViewBox({ attributes }: SvgRoot): ViewBox | undefined {
  const found = VIEW_BOX.exec(attributes.get("viewBox") ?? "");
  const [x = 0, y = 0, width = 0, height = 0] = found?.slice(1).map(Number) ?? [];
  return found === null ? undefined : { x, y, width, height };
}

/** Whether CSS sets the size of the root, which overrides its attributes. */
export function isSizedByCss(root: SvgRoot): boolean {
  return isStyled(root, /(?<![-\w])(?:width|height)\s*:/i);
}

/** Whether the `style` of the root or a style sheet has a declaration. */
function isStyled({ attributes, content }: SvgRoot, declaration: RegExp): boolean {
  if (declaration.test(attributes.get("style") ?? "")) return true;
  let end = 0;
  for (let at = content.indexOf("<style"); at >= 0; at = content.indexOf("<style", end)) {
    end = content.indexOf("</style>", at);
    if (end < 0) break;
    if (declaration.test(content.toString("utf8", at, end))) return true;
  }
  return false;
}

/**
 * A length in user units; `undefined` if absent, relative to a window or not a length; `unknown` if only librsvg can
 * resolve it.
 */
function readLength(root: SvgRoot, name: "width" | "height"): number | "unknown" | undefined {
  const written = root.attributes.get(name);
  const [, number, unit = ""] = LENGTH.exec(written ?? "") ?? [];
  if (number === undefined) return written?.includes("(") ? "unknown" : undefined;
  if (windowUnits.has(unit.toLowerCase())) return undefined;
  const value = Number(number);
  if (!(value > 0)) throw unreadable("image/svg+xml", `its ${name} is ${value < 0 ? "negative" : "zero"}`);
  const share = fontUnits.get(unit.toLowerCase());
  const units = share === undefined ? unitsOf.get(unit.toLowerCase()) : share * (fontSizeOf(root) ?? 0);
  return units === undefined || units <= 0 ? "unknown" : value * units;
}

/** The font size of the root in user units; `undefined` if only librsvg can compute it. */
function fontSizeOf(root: SvgRoot): number | undefined {
  if (isStyled(root, FONT_STYLE)) return undefined;
  const [, number, unit = ""] = LENGTH.exec(root.attributes.get("font-size") ?? `${FONT_SIZE}`) ?? [];
  const share = unit === "%" ? 0.01 : fontUnits.get(unit.toLowerCase());
  const units = share === undefined ? unitsOf.get(unit.toLowerCase()) : share * FONT_SIZE;
  return number === undefined || units === undefined ? undefined : Number(number) * units;
}

/** A document with the font size of browsers, unless it has its own. */
export function withFontSize(root: SvgRoot): SvgRoot {
  const known = fontSizeOf(root);
  const pixels = (_: string, number: string) => `${Number(number) * (known ?? FONT_SIZE)}px`;
  // librsvg does not know this unit.
  const style = root.attributes.get("style")?.replace(/(?<![\d.])(\d+(?:\.\d+)?|\.\d+)rem\b/gi, pixels);
  const size = known ?? root.attributes.get("font-size") ?? FONT_SIZE;
  return withRootAttributes(root, { "font-size": `${size}`, ...(style === undefined ? {} : { style }) });
}

/** A declaration of a background by a colour alone. */
const BACKGROUND =
  /(?:^|;)background(?:-color)?:(#(?:[\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})|(?!inherit|initial|revert|unset)[a-z]+|(?:rgb|hsl|hwb)a?\([^()]*\))(?:\s*!important)?\s*(?=;|$)/gi;
/** Rules in conditions. A picture is bright, and not printed. */
const CONDITIONAL = /@[^{}]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g;
const ROOT_RULE = /(?:^|\n)(?:svg|:root)\{([^{}]*)\}/g;

/** Multiples of the view box around it: a background also covers what lies beside the view box. */
const AROUND = 20;

/**
 * A document with the colour that CSS gives the root as its background drawn as a shape. Browsers draw such a
 * background; librsvg and svg-to-pdfkit do not.
 */
export function withBackgroundShape(root: SvgRoot): SvgRoot {
  const colour = colourOf(root);
  if (colour === undefined) return root;
  const { x, y, width, height } = readViewBox(root) ?? { x: 0, y: 0, width: 32_767, height: 32_767 };
  const left = x - AROUND * width;
  const path = `M${left} ${y - AROUND * height}h${width * (2 * AROUND + 1)}v${height * (2 * AROUND + 1)}H${left}z`;
  const shape = Buffer.from(colourShape(path, colour));
  const rest = root.isEmpty ? Buffer.from("</svg>") : root.content;
  return { ...root, isEmpty: false, content: Buffer.concat([shape, rest]) };
}

/** A shape in one colour, which no rule of the document changes. */
export function colourShape(path: string, colour: string): string {
  // The style wins over the document's rules. The attribute holds for a name that is no colour, and in svg-to-pdfkit.
  const fill = colour.startsWith("#") ? colour : "none";
  const style = `fill:${colour}!important;stroke:none!important;opacity:1!important;transform:none!important`;
  return `<path d="${path}" fill="${fill}" style="${escapeAttribute(style)}"/>`;
}

/** The background that the root has by its own `style`. */
export function ownColour({ attributes }: SvgRoot): string | undefined {
  return lastColour(attributes.get("style") ?? "");
}

function colourOf(root: SvgRoot): string | undefined {
  const { content } = root;
  const own = ownColour(root);
  if (own !== undefined) return own;
  let colour: string | undefined;
  for (let at = content.indexOf("<style"); at >= 0; at = content.indexOf("<style", at + 1)) {
    const start = content.indexOf(">", at) + 1;
    const css = content.toString("utf8", start, Math.max(start, content.indexOf("</style>", at)));
    for (const [, declarations = ""] of css.replace(CONDITIONAL, "").matchAll(ROOT_RULE)) {
      colour = lastColour(declarations) ?? colour;
    }
  }
  return colour;
}

function lastColour(declarations: string): string | undefined {
  return [...declarations.matchAll(BACKGROUND)].at(-1)?.[1];
}
