const lists = [
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
 * Elements of SVG 1.1 and 2 that stay. Not among them: what runs (`script`, `handler`), what holds other languages
 * (`foreignObject`, `iframe`, `audio`, `video`, `canvas`), what loads (`cursor`, `font-face-uri`, `color-profile`), SVG
 * fonts, which hardly anything draws, and `metadata`.
 */
export const allowedElements: ReadonlySet<string> = new Set(lists.join(" ").split(" "));

/** Elements that hold text alone: what else is in them is dropped. */
export const textElements: ReadonlySet<string> = new Set(["desc", "style", "title"]);
