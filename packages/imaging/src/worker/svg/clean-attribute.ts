import type { SaxesAttributeNS } from "saxes";
import { cleanDeclarations, cleanValue, paints, withoutServer } from "./clean-css.ts";
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
  const read =
    kind === "plain" ? value : (cleanValue(value) ?? (paints.has(local) ? withoutServer(value) : undefined));
  if (read === undefined) return undefined;
  // No valid animation value has a colon, so this is an address.
  if (animations.has(element) && animatedValues.has(local) && value.includes(":")) return undefined;
  return { name: local, value: read };
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
  // URLs hold no tabs and line breaks (URL Standard, 4.4).
  const part = target.replace(/[\t\n\r]/g, "");
  // No renderer draws a part of the document in an `image`, but a browser would load the document for it.
  return part.length > 1 && part.startsWith("#") && element !== "image" ? part : undefined;
}

const elements = [
  // Structure and text.
  "a defs desc g style svg switch symbol title use view",
  "text textPath tref tspan",
  // Shapes, pictures and what paints or bounds them.
  "circle ellipse image line path polygon polyline rect",
  "clipPath hatch hatchpath linearGradient marker mask meshgradient meshpatch meshrow pattern radialGradient",
  "solidcolor stop",
  // Filters.
  "filter feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting",
  "feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage",
  "feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence",
  // Animation.
  "animate animateColor animateMotion animateTransform mpath set",
];

/**
 * Elements of SVG 1.1 and 2 that are kept. Not among them are elements that run code (`script`, `handler`), embed other
 * content (`foreignObject`, `iframe`, `audio`, `video`, `canvas`) or load files (`cursor`, `font-face-uri`,
 * `color-profile`), SVG fonts, which few renderers draw, and `metadata`.
 */
export const allowedElements: ReadonlySet<string> = new Set(elements.join(" ").split(" "));

/** Elements that act, embed or load, or hold data. They are dropped with everything in them. */
export const actingElements: ReadonlySet<string> = new Set(
  "audio canvas embed foreignObject handler iframe listener metadata object script video".split(" "),
);

/** Elements that may hold `defs`. */
export const containers: ReadonlySet<string> = new Set(
  "a clipPath defs g marker mask pattern svg symbol".split(" "),
);

/**
 * Elements that `use` can draw from within an unknown element, which itself is never drawn. Browsers find there neither
 * gradients nor anything else that paints or bounds.
 */
export const usableElements: ReadonlySet<string> = new Set(
  "a circle ellipse g image line path polygon polyline rect svg switch symbol text use".split(" "),
);

/** Elements that hold only text. Elements inside them are dropped. */
export const textElements: ReadonlySet<string> = new Set(["desc", "style", "title"]);

/** Attributes whose values are names, numbers, times or text, which no renderer parses as CSS. */
const plain = [
  "class id lang role",
  "attributeName begin end media",
  "requiredExtensions requiredFeatures systemLanguage",
];

/** Attributes whose values are CSS, or become CSS when animated. They could hold an address or a function. */
const styled = [
  "baseProfile version",
  // Geometry. Many are CSS properties in SVG 2.
  "cx cy d dx dy fr fx fy height path pathLength points preserveAspectRatio r rx ry transform viewBox width",
  "x x1 x2 y y1 y2 zoomAndPan",
  "gradientTransform gradientUnits offset patternContentUnits patternTransform patternUnits spreadMethod",
  "clipPathUnits filterUnits markerHeight markerUnits markerWidth maskContentUnits maskUnits orient primitiveUnits",
  "filterRes refX refY",
  "hatchContentUnits hatchUnits pitch rotate side method spacing startOffset lengthAdjust textLength",
  // Filter primitives and what they share with others.
  "in in2 result type",
  "amplitude azimuth baseFrequency bias diffuseConstant divisor edgeMode elevation exponent intercept k1 k2 k3 k4",
  "kernelMatrix kernelUnitLength limitingConeAngle mode numOctaves operator order pointsAtX pointsAtY pointsAtZ",
  "preserveAlpha radius scale seed slope specularConstant specularExponent stdDeviation stitchTiles surfaceScale",
  "tableValues targetX targetY xChannelSelector yChannelSelector z",
  // Animation.
  "accumulate additive attributeType by calcMode dur from keyPoints keySplines keyTimes max min origin repeatCount repeatDur",
  "restart to values",
  // Presentation attributes of SVG 1.1.
  "alignment-baseline baseline-shift clip clip-path clip-rule color color-interpolation",
  "color-interpolation-filters color-profile color-rendering cursor direction display dominant-baseline",
  "enable-background fill fill-opacity fill-rule filter flood-color flood-opacity font font-family font-size",
  "font-size-adjust font-stretch font-style font-variant font-weight glyph-orientation-horizontal",
  "glyph-orientation-vertical image-rendering kerning letter-spacing lighting-color marker marker-end marker-mid",
  "marker-start mask opacity overflow pointer-events shape-rendering stop-color stop-opacity stroke",
  "stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity",
  "stroke-width text-anchor text-decoration text-rendering unicode-bidi visibility word-spacing writing-mode",
  // Presentation attributes of SVG 2 and the modules that it uses.
  "background-color font-feature-settings font-kerning font-variation-settings inline-size isolation line-height",
  "mask-type mix-blend-mode paint-order shape-inside shape-margin shape-padding shape-subtract solid-color",
  "solid-opacity text-align text-align-last text-decoration-color text-decoration-line text-decoration-style",
  "text-indent text-orientation text-overflow transform-box transform-origin unicode-range vector-effect",
  "white-space will-change",
];

const plainAttributes = new Set(plain.join(" ").split(" "));
const styledAttributes = new Set(styled.join(" ").split(" "));

/**
 * The kind of an attribute without a namespace, or `undefined` to drop it: event handlers, editor data, `data-*`, and
 * attributes that SVG 1.1 and 2 do not define. `href` and `style` are checked elsewhere.
 */
function kindOfAttribute(name: string): "plain" | "styled" | undefined {
  if (styledAttributes.has(name)) return "styled";
  return plainAttributes.has(name) || /^aria-[a-z]+$/.test(name) ? "plain" : undefined;
}

/**
 * Whether an animation may change the attribute: its values must be checked, and it must not be a reference or a style
 * sheet.
 */
function isAnimatable(name: string): boolean {
  return styledAttributes.has(name) || name === "class";
}
