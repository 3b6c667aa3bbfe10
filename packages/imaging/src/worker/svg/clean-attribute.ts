import type { SaxesAttributeNS } from "saxes";
import { isAnimatable, kindOfAttribute } from "./allow-list.ts";
import { cleanDeclarations, isSafeValue, paints, withoutServer } from "./clean-css.ts";
import { type CleanNested, cleanPictureUrl } from "./embedded-picture.ts";

export const XLINK_NAMESPACE = "http://www.w3.org/1999/xlink";
const XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace";

/** An attribute to write. */
export interface Attribute {
  name: string;
  value: string;
}

const animations = new Set(["animate", "animateColor", "animateMotion", "animateTransform", "set"]);
/** Attributes that hold the values of an animation. */
const animatedValues = new Set(["by", "from", "to", "values"]);

/** The cleaned attribute of an element, or `undefined` to drop it. `element` is a local name. */
export function cleanAttribute(
  element: string,
  { uri, local, value }: SaxesAttributeNS,
  cleanNested: CleanNested,
): Attribute | undefined {
  if (local === "href" && (uri === "" || uri === XLINK_NAMESPACE)) {
    const target = cleanReference(element, value.trim(), cleanNested);
    return target === undefined ? undefined : { name: uri === "" ? "href" : "xlink:href", value: target };
  }
  if (uri === XML_NAMESPACE) {
    return local === "lang" || local === "space" ? { name: `xml:${local}`, value } : undefined;
  }
  if (uri !== "") return undefined;
  if (local === "style") {
    const style = cleanDeclarations(value);
    return style === "" ? undefined : { name: local, value: style };
  }
  const kind = kindOfAttribute(local);
  if (kind === undefined) return undefined;
  if (kind === "styled" && !isSafeValue(value)) {
    return paints.has(local) ? { name: local, value: withoutServer(value) } : undefined;
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
function cleanReference(element: string, target: string, cleanNested: CleanNested): string | undefined {
  const mayBePicture = element === "image" || element === "feImage";
  if (mayBePicture && /^data:/i.test(target)) return cleanPictureUrl(target, cleanNested);
  // No renderer draws a part of the document in an `image`, but a browser would load the document for it.
  return target.length > 1 && target.startsWith("#") && element !== "image" ? target : undefined;
}
