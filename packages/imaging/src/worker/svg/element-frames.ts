import type { SaxesAttributeNS, SaxesTagNS } from "saxes";
import {
  actingElements,
  allowedElements,
  containers,
  isUnsafeAnimation,
  textElements,
  usableElements,
} from "./clean-attribute.ts";
import { SVG_NAMESPACE } from "./svg-writer.ts";

/** Languages that browsers also run in an SVG. */
const otherLanguages = new Set(["http://www.w3.org/1999/xhtml", "http://www.w3.org/1998/Math/MathML"]);

/** An open element that is not dropped. */
export interface Frame {
  /** The local name under which it was written; `undefined` for an unknown element. */
  name?: string;
  /** The outermost unknown element, whose useful content is written into `defs`. */
  unknown?: { hasDefs: boolean };
}

/** Whether an element is SVG. Without any namespace it counts as SVG, as in librsvg. */
export function isSvg(tag: SaxesTagNS): boolean {
  return tag.uri === SVG_NAMESPACE || tag.uri === "";
}

/** How an element in `parent` is written; `undefined` to drop it with everything in it. */
export function frameOf(
  tag: SaxesTagNS,
  attributes: readonly SaxesAttributeNS[],
  parent: Frame | undefined,
): Frame | undefined {
  const { local } = tag;
  const { name, unknown } = parent ?? {};
  if (name !== undefined && textElements.has(name)) return undefined;
  if (actingElements.has(local) || otherLanguages.has(tag.uri)) return undefined;
  const isKnown = isSvg(tag) && allowedElements.has(local);
  if (isKnown && (isUnsafeAnimation(local, attributes) || isOtherStyle(local, attributes))) return undefined;
  if (unknown !== undefined) {
    const isUseful = local === "style" || (usableElements.has(local) && attributes.some(isId));
    return isKnown && isUseful ? { name: local } : { unknown };
  }
  if (isKnown) return { name: local };
  return name !== undefined && containers.has(name) ? { unknown: { hasDefs: false } } : undefined;
}

/** Whether an element is a style sheet in a language other than CSS, which browsers ignore and librsvg does not. */
function isOtherStyle(element: string, attributes: readonly SaxesAttributeNS[]): boolean {
  const type = attributes.find(({ uri, local }) => uri === "" && local === "type")?.value ?? "";
  return element === "style" && !/^(?:text\/css)?$/i.test(type.trim());
}

function isId({ uri, local }: SaxesAttributeNS): boolean {
  return uri === "" && local === "id";
}
