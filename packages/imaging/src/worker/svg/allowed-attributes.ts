/** Their values are names, numbers, times and text, which no renderer takes for CSS. */
const plain = [
  "class id lang role",
  "attributeName begin end media",
  "requiredExtensions requiredFeatures systemLanguage",
];

/** Their values are CSS, or become CSS where they are animated, so that an address or a function could be in them. */
const styled = [
  "baseProfile version",
  // Geometry. SVG 2 makes properties of many of them.
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
  // And of SVG 2 and the modules that it draws on.
  "background-color font-feature-settings font-kerning font-variation-settings inline-size isolation line-height",
  "mask-type mix-blend-mode paint-order shape-inside shape-margin shape-padding shape-subtract solid-color",
  "solid-opacity text-align text-align-last text-decoration-color text-decoration-line text-decoration-style",
  "text-indent text-orientation text-overflow transform-box transform-origin unicode-range vector-effect",
  "white-space will-change",
];

const plainAttributes = new Set(plain.join(" ").split(" "));
const styledAttributes = new Set(styled.join(" ").split(" "));

/**
 * What an attribute without a namespace holds, or `undefined` for one that is dropped: event handlers, editor data,
 * `data-*`, and all that SVG 1.1 and 2 do not know. `href` and `style` are looked at elsewhere.
 */
export function kindOfAttribute(name: string): "plain" | "styled" | undefined {
  if (styledAttributes.has(name)) return "styled";
  return plainAttributes.has(name) || /^aria-[a-z]+$/.test(name) ? "plain" : undefined;
}

/** Whether an animation may change it: anything whose values are looked at, but no reference and no style sheet. */
export function isAnimatable(name: string): boolean {
  return styledAttributes.has(name) || name === "class";
}
