import type { SaxesAttributeNS } from "saxes";
import { isAnimatable, kindOfAttribute } from "./allow-list.ts";
import { cleanDeclarations, isSafeValue } from "./clean-css.ts";

export const XLINK_NAMESPACE = "http://www.w3.org/1999/xlink";
const XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace";

/** An attribute as it is written. */
export interface Attribute {
  name: string;
  value: string;
}

const animations = new Set(["animate", "animateColor", "animateMotion", "animateTransform", "set"]);
const paints = new Set(["fill", "stroke"]);
/** Attributes that hold the values of an animation. */
const animatedValues = new Set(["by", "from", "to", "values"]);
const DATA_PICTURE = /^data:image\/(?:gif|jpe?g|png|webp);base64,/i;

/** The attribute that stays of one of an element, or `undefined`. `element` is a local name. */
export function cleanAttribute(element: string, attribute: SaxesAttributeNS): Attribute | undefined {
  const { uri, local, value } = attribute;
  if (uri === XLINK_NAMESPACE) return local === "href" ? reference("xlink:href", element, value) : undefined;
  if (uri === XML_NAMESPACE) {
    return local === "lang" || local === "space" ? { name: `xml:${local}`, value } : undefined;
  }
  if (uri !== "") return undefined;
  if (local === "href") return reference("href", element, value);
  if (local === "style") {
    const style = cleanDeclarations(value);
    return style === "" ? undefined : { name: local, value: style };
  }
  const kind = kindOfAttribute(local);
  if (kind === undefined) return undefined;
  if (kind === "styled" && !isSafeValue(value)) {
    // A paint that is not there is none (SVG 2, 13.2); without the attribute it would be black.
    return paints.has(local) ? { name: local, value: "none" } : undefined;
  }
  // No value that can be animated has a colon: this is an address.
  if (animations.has(element) && animatedValues.has(local) && value.includes(":")) return undefined;
  return { name: local, value };
}

/** Whether an element is an animation of something that must stay as it is cleaned, such as a reference. */
export function isUnsafeAnimation(element: string, attributes: readonly SaxesAttributeNS[]): boolean {
  if (!animations.has(element)) return false;
  const target = attributes.find(({ uri, local }) => uri === "" && local === "attributeName");
  return target !== undefined && !isAnimatable(target.value.trim());
}

/** A reference to a part of the same document, or a picture that is in the reference itself. */
function reference(name: string, element: string, value: string): Attribute | undefined {
  const target = value.trim();
  const mayBePicture = element === "image" || element === "feImage";
  if (mayBePicture && DATA_PICTURE.test(target)) return embedded(name, target);
  // No renderer draws a part of the document as `image`, but a browser would load the document for it.
  return target.length > 1 && target.startsWith("#") && element !== "image"
    ? { name, value: target }
    : undefined;
}

/** A picture without the line breaks that some programs put into it. */
function embedded(name: string, target: string): Attribute | undefined {
  const content = target.slice(target.indexOf(",") + 1).replace(/\s+/g, "");
  // Bytes of another kind would be something else for a reader that does not go by the declared type.
  const isPicture = !/[^A-Za-z0-9+/=]/.test(content) && isRaster(Buffer.from(content.slice(0, 20), "base64"));
  return isPicture
    ? { name, value: `${target.slice(0, target.indexOf(",")).toLowerCase()},${content}` }
    : undefined;
}

/** By the first bytes: PNG, JPEG, GIF or WebP. */
function isRaster(head: Buffer): boolean {
  const text = head.toString("latin1");
  return (
    text.startsWith("\x89PNG\r\n\x1a\n") ||
    text.startsWith("\xff\xd8\xff") ||
    /^GIF8[79]a/.test(text) ||
    /^RIFF[\s\S]{4}WEBP/.test(text)
  );
}
