import { type CssGrammar, readComponents } from "./css-components.ts";
import { CssScanner } from "./css-scanner.ts";

/** Functions in values that load nothing, whatever their arguments. */
const valueFunctions = [
  // Transforms.
  "matrix matrix3d perspective rotate rotate3d rotatex rotatey rotatez scale scale3d scalex scaley scalez",
  "skew skewx skewy translate translate3d translatex translatey translatez",
  // Colours.
  "color color-mix device-cmyk hsl hsla hwb icc-color lab lch light-dark oklab oklch rgb rgba",
  // Filters.
  "blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia",
  // Shapes and gradients.
  "circle ellipse inset path polygon rect xywh",
  "conic-gradient linear-gradient radial-gradient",
  "repeating-conic-gradient repeating-linear-gradient repeating-radial-gradient",
  // Timing.
  "cubic-bezier linear steps",
  // Numbers.
  "abs acos asin atan atan2 calc clamp cos exp hypot log max min mod pow rem round sign sin sqrt tan",
  // Values from elsewhere in the same document, which are cleaned there.
  "var",
];

const selectorFunctions = [
  "-moz-any -webkit-any has host is lang matches not where",
  "nth-child nth-last-child nth-last-of-type nth-of-type",
];

/**
 * The functions allowed in a value. `url` is checked separately; `src`, `image`, `image-set`, `cross-fade`, `element`,
 * `attr`, `paint` and `expression` load or run something.
 */
const safeInValues = named(valueFunctions);

/** The functions allowed in the condition of `@media`, `@supports` or `@container`. */
export const safeInConditions = named([...valueFunctions, "selector style"]);

/** The functions allowed in a selector. */
export const safeInSelectors = named(selectorFunctions);

function named(lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.join(" ").split(" "));
}

const value: CssGrammar = {
  delimiters: "!*+-./",
  punctuation: [],
  functions: safeInValues,
  escapedNames: false,
};
/** Several values in a list, as in animations. */
const values: CssGrammar = { ...value, punctuation: [";"] };
const condition: CssGrammar = {
  delimiters: "*+-./>=",
  punctuation: [":"],
  functions: safeInConditions,
  escapedNames: false,
};
const selector: CssGrammar = {
  delimiters: ".*>+~|&=^$-",
  punctuation: [":"],
  functions: safeInSelectors,
  escapedNames: true,
};

/**
 * At-rules that hold rules. Others are dropped: they load something (`@import`, `@font-face`) or are of no use in
 * pictures.
 */
const groupRules = new Set([
  "@container",
  "@keyframes",
  "@layer",
  "@media",
  "@supports",
  "@-webkit-keyframes",
]);
const MAX_GROUP_DEPTH = 8;

/** Properties that run code in old browsers. */
const unsafeProperties = new Set(["behavior", "-ms-behavior", "-moz-binding"]);

/** Properties whose value may be an address of a paint server. */
export const paints: ReadonlySet<string> = new Set(["fill", "stroke"]);

/**
 * A paint whose paint server is not in the document: what the value names instead of it, else "none" (SVG 2, 13.2).
 * Without a value it would be black. `undefined` for an invalid value, which counts as absent.
 */
export function withoutServer(paint: string): string | undefined {
  if (new CssScanner(paint.trim()).next() === "bad-url") return undefined;
  const [, alternative = ""] =
    /^\s*url\((?:"[^"]*"|'[^']*'|[^()"']*)\)\s+([^()]+|\w+\([^()]*\))\s*$/i.exec(paint) ?? [];
  return alternative !== "" && cleanValue(alternative) !== undefined ? alternative.trim() : "none";
}

/**
 * Removes from a style sheet everything that loads something and everything not understood. Addresses may only name a
 * part of the same document, as in `url(#a)`. The remaining rules keep their meaning; cleaning them again changes
 * nothing.
 */
export function cleanStylesheet(css: string): string {
  return readRules(new CssScanner(css), 0);
}

/** Cleans the declarations of a `style` attribute as {@link cleanStylesheet} does. */
export function cleanDeclarations(css: string): string {
  return readDeclarations(new CssScanner(css), false);
}

/** The value of a presentation attribute or of an animation; `undefined` if it is not understood or loads something. */
export function cleanValue(css: string): string | undefined {
  // Most values: without these characters there is no function, address or escape to check.
  if (!/[(\\<{@]/.test(css)) return css;
  const scanner = new CssScanner(css);
  scanner.next();
  const { text, isSafe } = readComponents(scanner, values, []);
  if (!isSafe) return undefined;
  return /url\(/i.test(css) ? text : css;
}

/** Reads to the end or to the brace that closes the group. */
function readRules(scanner: CssScanner, depth: number): string {
  const rules: string[] = [];
  for (;;) {
    const kind = scanner.next();
    if (kind === "end" || (kind === "}" && depth > 0)) return rules.join("\n");
    if (kind === "whitespace" || kind === "comment" || kind === "comment-delimiter") continue;
    const rule = kind === "at-keyword" ? readAtRule(scanner, depth) : readStyleRule(scanner);
    if (rule !== undefined) rules.push(rule);
  }
}

function readAtRule(scanner: CssScanner, depth: number): string | undefined {
  const name = scanner.token.toLowerCase();
  scanner.next();
  const prelude = readComponents(scanner, condition, [";", "{"]);
  if (prelude.endedAt !== "{") return undefined;
  if (!groupRules.has(name) || depth >= MAX_GROUP_DEPTH) {
    scanner.next();
    readComponents(scanner, value, ["}"]);
    return undefined;
  }
  const rules = readRules(scanner, depth + 1);
  return prelude.isSafe && rules !== "" ? `${name} ${prelude.text}{${rules}}` : undefined;
}

function readStyleRule(scanner: CssScanner): string | undefined {
  const prelude = readComponents(scanner, selector, ["{"]);
  if (prelude.endedAt !== "{") return undefined;
  const declarations = readDeclarations(scanner, true);
  const isKept = prelude.isSafe && prelude.text !== "" && declarations !== "";
  return isKept ? `${prelude.text}{${declarations}}` : undefined;
}

/** Reads to the end or, in a block, to the brace that closes it. */
function readDeclarations(scanner: CssScanner, inBlock: boolean): string {
  const declarations: string[] = [];
  for (;;) {
    const kind = scanner.next();
    if (kind === "end" || (kind === "}" && inBlock)) return declarations.join(";");
    if (kind === "whitespace" || kind === "comment" || kind === ";") continue;
    const { text, endedAt } = readDeclaration(scanner, inBlock);
    if (text !== undefined) declarations.push(text);
    if (endedAt === "end" || endedAt === "}") return declarations.join(";");
  }
}

function readDeclaration(scanner: CssScanner, inBlock: boolean) {
  const isName = scanner.kind === "ident" && !scanner.escaped;
  const name = isName && !unsafeProperties.has(scanner.token.toLowerCase()) ? scanner.token : undefined;
  if (isName) skipToColon(scanner);
  const isDeclaration = isName && scanner.kind === ":";
  if (isDeclaration) scanner.next();
  const { start } = scanner;
  const { text, isSafe, endedAt } = readComponents(scanner, value, inBlock ? [";", "}"] : [";"]);
  if (!isDeclaration || name === undefined) return { text: undefined, endedAt };
  if (isSafe) return { text: text === "" ? undefined : `${name}:${text}`, endedAt };
  const paint = paints.has(name.toLowerCase()) ? scanner.text.slice(start, scanner.start) : "";
  const substitute = /^\s*url\(/i.test(paint) ? withoutServer(paint) : undefined;
  return { text: substitute && `${name}:${substitute}`, endedAt };
}

/** Skips whitespace after a property, up to its colon. */
function skipToColon(scanner: CssScanner): void {
  do scanner.next();
  while (scanner.kind === "whitespace" || scanner.kind === "comment");
}
