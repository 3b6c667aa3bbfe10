import { type Drawings, draw, each } from "./svg-drawing.ts";

export function texts(): Drawings {
  const text = (attributes: string, content = "Text") =>
    `<text x="5" y="28" font-family="DejaVu Sans" font-size="20" ${attributes}>${content}</text>`;
  return {
    ...each("anchor", ["start", "middle", "end"], (anchor) => text(`text-anchor="${anchor}" dx="20"`)),
    ...each(
      "family",
      [
        "serif",
        "sans-serif",
        "monospace",
        "DejaVu Sans Mono",
        "Arial",
        "Helvetica Neue, sans-serif",
        "'Times New Roman', serif",
        "none such",
      ],
      (family) => `<text x="2" y="28" font-size="16" font-family="${family}">Text</text>`,
    ),
    ...each("weight", ["100", "normal", "bold", "900", "bolder"], (weight) =>
      text(`font-weight="${weight}"`),
    ),
    ...each("baseline", ["middle", "central", "hanging", "text-before-edge", "alphabetic"], (baseline) =>
      text(`dominant-baseline="${baseline}"`),
    ),
    ...each("decoration", ["underline", "overline", "line-through"], (decoration) =>
      text(`text-decoration="${decoration}"`),
    ),
    ...each(
      "letters",
      ["Grüße", "ελιά", "Жук", "&lt;&amp;&gt;", "a\u0301e\u0308", "שלום", "∑∫√"],
      (content) => text("", content),
    ),
    ...each("spacing", ["3", "-2", "0.2em", "normal"], (spacing) => text(`letter-spacing="${spacing}"`)),
    spans: draw(
      text("", 'A<tspan dy="-5" fill="#c00">B</tspan><tspan x="40" y="35" font-size="10">C</tspan>'),
    ),
    positions: draw(text('rotate="20"', '<tspan x="5 20 35" y="20 30 20">ABC</tspan>')),
    "text length": draw(text('textLength="50" lengthAdjust="spacingAndGlyphs"')),
    stroked: draw(text('fill="none" stroke="#c00" stroke-width="1.5" font-weight="bold"')),
    "with a gradient": draw(
      `<linearGradient id="g"><stop stop-color="#f00"/><stop offset="1" stop-color="#00f"/></linearGradient>${text('fill="url(#g)"')}`,
    ),
    "on a path": draw(
      '<path id="p" d="M5 30Q30 0 55 30" fill="none"/><text font-family="DejaVu Sans" font-size="10"><textPath href="#p">along a path</textPath></text>',
    ),
    vertical: draw(
      '<text x="30" y="2" font-family="DejaVu Sans" font-size="10" writing-mode="tb">ABC</text>',
    ),
    "white space": draw(text('xml:space="preserve" font-size="10"', "a   b")),
    italic: draw(text('font-style="italic"')),
    "small capitals": draw(text('font-variant="small-caps"')),
    "font shorthand": draw(
      '<text x="5" y="28" style="font:italic bold 18px/1 &quot;DejaVu Serif&quot;">Text</text>',
    ),
  };
}

export function effects(): Drawings {
  const scene =
    '<rect x="8" y="8" width="30" height="20" fill="#d63"/><circle cx="40" cy="24" r="10" fill="#268" fill-opacity=".7"/>';
  const filtered = (content: string, attributes = "") =>
    `<filter id="f" ${attributes}>${content}</filter><g filter="url(#f)">${scene}</g>`;
  const primitives: Record<string, string> = {
    blur: '<feGaussianBlur stdDeviation="2"/>',
    "blur of two": '<feGaussianBlur stdDeviation="4 0"/>',
    offset: '<feOffset dx="5" dy="-3"/>',
    flood: '<feFlood flood-color="#0a5" flood-opacity=".5" x="10" y="10" width="20" height="10"/>',
    "drop shadow": '<feDropShadow dx="3" dy="3" stdDeviation="1.5" flood-opacity=".6"/>',
    matrix: '<feColorMatrix values=".3 .6 .1 0 0 .3 .6 .1 0 0 .3 .6 .1 0 0 0 0 0 1 0"/>',
    hue: '<feColorMatrix type="hueRotate" values="90"/>',
    saturate: '<feColorMatrix type="saturate" values=".2"/>',
    luminance: '<feColorMatrix type="luminanceToAlpha"/>',
    "transfer table":
      '<feComponentTransfer><feFuncR type="table" tableValues="1 0"/><feFuncG type="discrete" tableValues="0 .5 1"/></feComponentTransfer>',
    "transfer gamma":
      '<feComponentTransfer><feFuncB type="gamma" exponent=".4" amplitude="1.2"/></feComponentTransfer>',
    erode: '<feMorphology radius="2"/>',
    dilate: '<feMorphology operator="dilate" radius="2"/>',
    convolve: '<feConvolveMatrix order="3" kernelMatrix="1 0 -1 2 0 -2 1 0 -1" preserveAlpha="true"/>',
    turbulence: '<feTurbulence baseFrequency=".08" numOctaves="2"/>',
    noise: '<feTurbulence type="fractalNoise" baseFrequency=".08" stitchTiles="stitch"/>',
    displacement:
      '<feTurbulence baseFrequency=".05" result="n"/><feDisplacementMap in="SourceGraphic" in2="n" scale="10" xChannelSelector="R"/>',
    tile: '<feOffset x="8" y="8" width="15" height="10"/><feTile/>',
    "diffuse light":
      '<feDiffuseLighting surfaceScale="3" in="SourceAlpha"><feDistantLight azimuth="30" elevation="40"/></feDiffuseLighting>',
    "spot light":
      '<feSpecularLighting in="SourceAlpha" specularExponent="9"><feSpotLight x="20" y="10" z="30" pointsAtX="40" pointsAtY="25" limitingConeAngle="40"/></feSpecularLighting>',
  };
  const modes = [
    "normal",
    "multiply",
    "screen",
    "overlay",
    "darken",
    "lighten",
    "color-dodge",
    "color-burn",
    "hard-light",
    "soft-light",
    "difference",
    "exclusion",
    "hue",
    "saturation",
    "color",
    "luminosity",
  ];
  const operators = ["over", "in", "out", "atop", "xor", "lighter"];
  const flood = '<feFlood flood-color="#4c2" x="20" y="12" width="30" height="22" result="b"/>';
  return {
    ...Object.fromEntries(
      Object.entries(primitives).map(([name, content]) => [`filter ${name}`, draw(filtered(content))]),
    ),
    ...each("filter colours", ["sRGB", "linearRGB"], (space) =>
      filtered('<feGaussianBlur stdDeviation="3"/>', `color-interpolation-filters="${space}"`),
    ),
    ...each("filter blend", modes, (mode) =>
      filtered(`${flood}<feBlend in="SourceGraphic" in2="b" mode="${mode}"/>`),
    ),
    ...each("filter composite", operators, (operator) =>
      filtered(`${flood}<feComposite in="SourceGraphic" in2="b" operator="${operator}"/>`),
    ),
    ...each(
      "blend mode",
      modes,
      (mode) => `<rect width="60" height="40" fill="#8ad"/><g style="mix-blend-mode:${mode}">${scene}</g>`,
    ),
    ...each(
      "filter function",
      [
        "blur(2px)",
        "brightness(1.5)",
        "contrast(.5)",
        "grayscale(1)",
        "invert(.8)",
        "opacity(.4)",
        "sepia(.7)",
        "saturate(2)",
        "drop-shadow(3px 3px 1px #00f)",
        "blur(1px) invert(1)",
      ],
      (filter) => `<g style="filter:${filter}">${scene}</g>`,
    ),
    ...each(
      "clip rule",
      ["nonzero", "evenodd"],
      (rule) =>
        `<clipPath id="c"><path d="M30 2L45 38 5 15h50L15 38z" clip-rule="${rule}"/></clipPath><rect width="60" height="40" fill="#06a" clip-path="url(#c)"/>`,
    ),
    ...each(
      "mask type",
      ["alpha", "luminance"],
      (type) =>
        `<mask id="m" style="mask-type:${type}"><rect x="5" y="5" width="50" height="30" fill="#888"/></mask><rect width="60" height="40" fill="#06a" mask="url(#m)"/>`,
    ),
    "clip by a text": draw(
      '<clipPath id="c"><text y="32" font-size="30" font-family="DejaVu Sans" font-weight="bold">AB</text></clipPath><rect width="60" height="40" fill="#06a" clip-path="url(#c)"/>',
    ),
    "clip of a clip": draw(
      '<clipPath id="d"><rect width="30" height="40"/></clipPath><clipPath id="c" clip-path="url(#d)"><circle cx="30" cy="20" r="15"/></clipPath><rect width="60" height="40" fill="#06a" clip-path="url(#c)"/>',
    ),
    "clip of a box": draw(
      '<clipPath id="c" clipPathUnits="objectBoundingBox"><circle cx=".5" cy=".5" r=".5"/></clipPath><rect x="5" y="5" width="50" height="30" fill="#06a" clip-path="url(#c)"/>',
    ),
    "clip function": draw('<rect width="60" height="40" fill="#06a" style="clip-path:circle(30%)"/>'),
    "mask of a gradient": draw(
      '<linearGradient id="g"><stop stop-color="#fff"/><stop offset="1"/></linearGradient><mask id="m"><rect width="60" height="40" fill="url(#g)"/></mask><rect width="60" height="40" fill="#06a" mask="url(#m)"/>',
    ),
    "mask of a box": draw(
      '<mask id="m" maskContentUnits="objectBoundingBox"><circle cx=".5" cy=".5" r=".4" fill="#fff"/></mask><rect x="5" y="5" width="50" height="30" fill="#06a" mask="url(#m)"/>',
    ),
    "missing clip path": draw('<rect width="60" height="40" fill="#06a" clip-path="url(#none)"/>'),
    "missing mask": draw('<rect width="60" height="40" fill="#06a" mask="url(#none)"/>'),
    "missing filter": draw(
      '<rect width="60" height="40" fill="#06a"/><rect width="20" height="20" filter="url(#none)"/>',
    ),
    isolation: draw(
      `<rect width="60" height="40" fill="#8ad"/><g style="isolation:isolate"><g style="mix-blend-mode:multiply">${scene}</g></g>`,
    ),
  };
}
