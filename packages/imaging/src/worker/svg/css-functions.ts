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
export const safeInValues = named(valueFunctions);

/** The functions allowed in the condition of `@media`, `@supports` or `@container`. */
export const safeInConditions = named([...valueFunctions, "selector style"]);

/** The functions allowed in a selector. */
export const safeInSelectors = named(selectorFunctions);

function named(lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.join(" ").split(" "));
}
