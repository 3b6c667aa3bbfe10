import { readViewBox, type SvgRoot } from "./svg-root.ts";
import { escapeAttribute } from "./svg-writer.ts";

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
