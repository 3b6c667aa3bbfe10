import type { SaxesAttributeNS } from "saxes";
import { isAnimatable, kindOfAttribute } from "./allow-list.ts";
import { cleanDeclarations, isSafeValue } from "./clean-css.ts";

export const XLINK_NAMESPACE = "http://www.w3.org/1999/xlink";
const XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace";

/** An attribute to write. */
export interface Attribute {
  name: string;
  value: string;
}

const animations = new Set(["animate", "animateColor", "animateMotion", "animateTransform", "set"]);
const paints = new Set(["fill", "stroke"]);
/** Attributes that hold the values of an animation. */
const animatedValues = new Set(["by", "from", "to", "values"]);
const DATA_PICTURE = /^data:image\/(?:gif|jpe?g|png|webp);base64,/i;

/** The cleaned attribute of an element, or `undefined` to drop it. `element` is a local name. */
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
    // An invalid paint reference means "none" (SVG 2, 13.2); without the attribute it would be black.
    return paints.has(local) ? { name: local, value: "none" } : undefined;
  }
  // No valid animation value has a colon, so this is an address.
  if (animations.has(element) && animatedValues.has(local) && value.includes(":")) return undefined;
  return { name: local, value };
}

/** Whether an element animates something that must not change after cleaning, such as a reference. */
export function isUnsafeAnimation(element: string, attributes: readonly SaxesAttributeNS[]): boolean {
  if (!animations.has(element)) return false;
  const target = attributes.find(({ uri, local }) => uri === "" && local === "attributeName");
  return target !== undefined && !isAnimatable(target.value.trim());
}

/** A reference to a part of the same document, or to a picture in a `data:` URL. */
function reference(name: string, element: string, value: string): Attribute | undefined {
  const target = value.trim();
  const mayBePicture = element === "image" || element === "feImage";
  if (mayBePicture && DATA_PICTURE.test(target)) return embedded(name, target);
  // No renderer draws a part of the document in an `image`, but a browser would load the document for it.
  return target.length > 1 && target.startsWith("#") && element !== "image"
    ? { name, value: target }
    : undefined;
}

/** A picture in a `data:` URL, without the line breaks that some programs insert. */
function embedded(name: string, target: string): Attribute | undefined {
  const content = target.slice(target.indexOf(",") + 1).replace(/\s+/g, "");
  // A reader that ignores the declared type could interpret other bytes differently.
  const isPicture = !/[^A-Za-z0-9+/=]/.test(content) && isRaster(Buffer.from(content.slice(0, 20), "base64"));
  return isPicture
    ? { name, value: `${target.slice(0, target.indexOf(",")).toLowerCase()},${content}` }
    : undefined;
}

/** Whether the first bytes are those of PNG, JPEG, GIF or WebP. */
function isRaster(head: Buffer): boolean {
  const text = head.toString("latin1");
  return (
    text.startsWith("\x89PNG\r\n\x1a\n") ||
    text.startsWith("\xff\xd8\xff") ||
    /^GIF8[79]a/.test(text) ||
    /^RIFF[\s\S]{4}WEBP/.test(text)
  );
}
