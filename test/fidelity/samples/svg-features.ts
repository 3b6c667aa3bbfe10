import { documents } from "./svg-documents.ts";
import { type Drawings, draw, each } from "./svg-drawing.ts";
import { effects, texts } from "./svg-effects.ts";

/** Drawings of 60 by 40, one per feature, by name. The elements and attributes are those of SVG 1.1 and 2. */
export function svgFeatures(): Record<string, string> {
  return { ...shapes(), ...paints(), ...structures(), ...texts(), ...effects(), ...documents() };
}

function shapes(): Drawings {
  const fill = 'fill="#c52" stroke="#135" stroke-width="2"';
  const paths = [
    "M5 5h50v30h-50z",
    "m5 5l20 10 20-10v25H5z",
    "M5 20C5 0 55 0 55 20S30 40 5 20",
    "M5 20Q30-10 55 20T5 30z",
    "M10 20A15 10 30 1 0 40 20",
    "M10 20a15,10 0 0150 0z",
    "M5,5 55,35M5,35 55,5",
    "M5 5L55 5 30 35ZM20 10L40 10 30 25Z",
    "M10 10.5.5 30-5-.5",
    "M5 5 H 55 V 35 error",
  ];
  return {
    ...each("path", paths, (d) => `<path d="${d}" ${fill}/>`),
    ...each(
      "fill rule",
      ["nonzero", "evenodd"],
      (rule) => `<path d="M30 2L45 38 5 15h50L15 38z" fill-rule="${rule}" ${fill}/>`,
    ),
    ...each(
      "rect corners",
      ["0", "5", "10%", "99"],
      (rx) => `<rect x="5" y="5" width="50" height="30" rx="${rx}" ${fill}/>`,
    ),
    ...each(
      "unit",
      ["20px", "15pt", "1.2pc", "5mm", "0.5cm", "0.3in", "30%", "2em", "2ex", "2rem", "10vw", "10vh"],
      (size) => `<rect width="${size}" height="${size}" ${fill}/>`,
    ),
    circle: draw(`<circle cx="30" cy="20" r="15" ${fill}/>`),
    ellipse: draw(`<ellipse cx="30" cy="20" rx="25" ry="10" ${fill}/>`),
    line: draw('<line x1="5" y1="5" x2="55" y2="35" stroke="#082" stroke-width="4"/>'),
    polygon: draw(`<polygon points="5,5 55 10,40,35 10,30" ${fill}/>`),
    polyline: draw(`<polyline points="5,5 55 10,40,35 10,30" ${fill}/>`),
    "circle without radius": draw(`<circle cx="30" cy="20"/><rect width="9" height="9" ${fill}/>`),
  };
}

function paints(): Drawings {
  const stops =
    '<stop offset="0" stop-color="#e30"/><stop offset=".5" stop-color="#fd0" stop-opacity=".6"/><stop offset="100%" stop-color="#05b"/>';
  const box = '<rect x="5" y="5" width="50" height="30" fill="url(#g)"/>';
  const colours = [
    "red",
    "#0a0",
    "#00aa0080",
    "#08f8",
    "rgb(10,20,200)",
    "rgba(200,0,0,.5)",
    "rgb(10% 50% 90%)",
    "hsl(280,60%,50%)",
    "hsla(20 90% 50% / 50%)",
    "RebeccaPurple",
    "currentColor",
    "none",
    "transparent",
    "inherit",
    "context-fill",
    "icc-color(x) red",
    "lab(60% 40 30)",
    "oklch(0.7 0.15 150)",
    "color(display-p3 0.2 0.7 0.1)",
    "hwb(200 10% 20%)",
  ];
  return {
    ...each(
      "colour",
      colours,
      (colour) => `<g fill="#bbb" color="#396"><rect width="60" height="40" fill="${colour}"/></g>`,
    ),
    ...each(
      "spread",
      ["pad", "reflect", "repeat"],
      (spread) =>
        `<linearGradient id="g" x1="40%" x2="60%" spreadMethod="${spread}">${stops}</linearGradient>${box}`,
    ),
    ...each(
      "radial spread",
      ["pad", "reflect", "repeat"],
      (spread) =>
        `<radialGradient id="g" r="20%" fx="45%" fy="45%" spreadMethod="${spread}">${stops}</radialGradient>${box}`,
    ),
    ...each(
      "gradient units",
      ["userSpaceOnUse", "objectBoundingBox"],
      (units) =>
        `<linearGradient id="g" gradientUnits="${units}" x2="${units === "userSpaceOnUse" ? 60 : 1}" gradientTransform="rotate(20)">${stops}</linearGradient>${box}`,
    ),
    ...each(
      "line join",
      ["miter", "round", "bevel", "arcs"],
      (join) =>
        `<path d="M5 35L20 8 30 35 35 5" fill="none" stroke="#333" stroke-width="6" stroke-linejoin="${join}"/>`,
    ),
    ...each(
      "line cap",
      ["butt", "round", "square"],
      (cap) => `<path d="M10 10h40M10 25h0" stroke="#333" stroke-width="8" stroke-linecap="${cap}"/>`,
    ),
    ...each(
      "dashes",
      ["5", "5 2", "5,2,1", "0 6", "20%", "none", "-1 2"],
      (dash) =>
        `<path d="M5 10h50M5 25h50" stroke="#333" stroke-width="4" stroke-dasharray="${dash}" stroke-dashoffset="3" stroke-linecap="round"/>`,
    ),
    ...each(
      "opacity",
      ["0", ".3", "50%", "1"],
      (opacity) =>
        `<rect width="60" height="40" fill="#e80"/><g opacity="${opacity}"><circle cx="25" cy="20" r="15"/><circle cx="35" cy="20" r="15" fill="#fff"/></g>`,
    ),
    ...each(
      "paint order",
      ["normal", "stroke", "markers fill stroke"],
      (order) =>
        `<circle cx="30" cy="20" r="12" fill="#e80" stroke="#046" stroke-width="9" paint-order="${order}"/>`,
    ),
    ...each(
      "pattern units",
      ["userSpaceOnUse", "objectBoundingBox"],
      (units) =>
        `<pattern id="g" width="${units === "userSpaceOnUse" ? 10 : 0.2}" height="${units === "userSpaceOnUse" ? 10 : 0.25}" patternUnits="${units}"><circle cx="4" cy="4" r="3" fill="#a05"/></pattern>${box}`,
    ),
    "pattern with a view box": draw(
      `<pattern id="g" width=".25" height=".5" viewBox="0 0 10 10"><path d="M0 0L10 10" stroke="#a05"/></pattern>${box}`,
    ),
    "focal radius": draw(
      `<radialGradient id="g" cx=".5" cy=".5" r=".5" fx=".3" fy=".3" fr=".15">${stops}</radialGradient>${box}`,
    ),
    "gradient from another": draw(
      `<linearGradient id="h">${stops}</linearGradient><linearGradient id="g" href="#h" x1="1" x2="0"/>${box}`,
    ),
    "gradient of one stop": draw(`<linearGradient id="g"><stop stop-color="#a3c"/></linearGradient>${box}`),
    "gradient without stops": draw(`<linearGradient id="g"/><rect width="9" height="9"/>${box}`),
    "missing gradient with fallback": draw(box.replace("url(#g)", "url(#none) #3a6")),
    "fill opacity": draw('<rect width="60" height="40" fill="#06c" fill-opacity=".4"/>'),
    "non-scaling stroke": draw(
      '<g transform="scale(3 1)"><path d="M2 5l15 30" stroke="#000" stroke-width="3" vector-effect="non-scaling-stroke"/></g>',
    ),
    marker: draw(
      '<marker id="m" markerWidth="6" markerHeight="6" refX="3" refY="3" orient="auto"><path d="M0 0L6 3 0 6z" fill="#c00"/></marker><path d="M8 30L30 10 52 30" fill="none" stroke="#222" stroke-width="2" marker-start="url(#m)" marker-mid="url(#m)" marker-end="url(#m)"/>',
    ),
  };
}

function structures(): Drawings {
  const square = '<rect width="15" height="15" fill="#283"/>';
  const transforms = [
    "translate(20 10)",
    "scale(2)",
    "rotate(30)",
    "rotate(30 30 20)",
    "skewX(20)",
    "skewY(10)",
    "matrix(1 .2 .3 1 5 5)",
    "translate(5) rotate(10) scale(1.5,.5)",
    "scale(-1 1) translate(-40)",
  ];
  const aspects = ["none", "xMinYMin", "xMidYMid slice", "xMaxYMax meet", "xMinYMax slice"];
  return {
    ...each("transform", transforms, (transform) => `<g transform="${transform}">${square}</g>`),
    ...each(
      "style transform",
      ["translate(20px,10px)", "rotate(30deg)", "scale(1.5)", "skewX(20deg)"],
      (transform) => `<g style="transform:${transform}">${square}</g>`,
    ),
    ...each(
      "transform origin",
      ["center", "10px 10px"],
      (origin) =>
        `<rect x="20" y="10" width="15" height="15" style="transform:rotate(45deg);transform-origin:${origin}"/>`,
    ),
    ...Object.fromEntries(
      aspects.map((aspect) => [
        `aspect ${aspect}`,
        draw(square, `width="60" height="40" viewBox="0 0 15 15" preserveAspectRatio="${aspect}"`),
      ]),
    ),
    ...each(
      "nested aspect",
      aspects,
      (aspect) =>
        `<svg x="5" y="5" width="50" height="30" viewBox="0 0 15 15" preserveAspectRatio="${aspect}">${square}</svg>`,
    ),
    ...each(
      "display",
      ["none", "inline", "block"],
      (display) => `<g display="${display}">${square}</g><circle cx="40" cy="20" r="9"/>`,
    ),
    ...each(
      "visibility",
      ["hidden", "collapse", "visible"],
      (visibility) =>
        `<g visibility="${visibility}">${square}<circle visibility="visible" cx="40" cy="20" r="9"/></g>`,
    ),
    ...each(
      "overflow",
      ["visible", "hidden", "scroll"],
      (overflow) =>
        `<svg x="10" y="10" width="20" height="15" overflow="${overflow}"><circle r="18" fill="#936"/></svg>`,
    ),
    ...each(
      "language",
      ["en", "en-GB", "de", "en,de", "xx"],
      (language) =>
        `<switch><rect systemLanguage="${language}" width="60" height="40" fill="#2a4"/><rect width="60" height="40" fill="#a24"/></switch>`,
    ),
    use: draw(
      `<defs><g id="s">${square}</g></defs><use href="#s" x="10" y="5"/><use xlink:href="#s" x="40" y="20" transform="rotate(10)"/>`,
    ),
    "use of a use": draw(
      `<g id="a">${square}</g><use id="b" href="#a" x="16"/><use href="#b" x="16" y="16"/>`,
    ),
    "use of itself": draw(`<g id="a">${square}<use href="#a" x="9"/></g>`),
    "use of a symbol": draw(
      '<symbol id="s" viewBox="0 0 10 10"><circle cx="5" cy="5" r="5" fill="#c60"/></symbol><use href="#s" x="5" y="5" width="30" height="30"/><use href="#s" x="40" width="10" height="10"/>',
    ),
    "use of an element in an unknown one": draw(
      `<x:group xmlns:x="urn:x">${square.replace("<rect", '<rect id="r"')}</x:group><use href="#r" x="20"/>`,
    ),
    "elements in an unknown one": draw(
      `<unknown><rect width="30" height="40" fill="#777"/></unknown>${square}`,
    ),
    "switch of features": draw(
      '<switch><rect requiredExtensions="urn:x" width="60" height="40" fill="red"/><rect width="60" height="40" fill="green"/></switch>',
    ),
    "empty switch": draw(`<switch/>${square}`),
    link: draw(`<a href="https://example.com/">${square}</a>`),
    "title and description": draw(`<title>Title</title><desc>Description</desc>${square}`),
    "only animation": draw(
      '<rect width="20" height="20" fill="#336"><animate attributeName="width" from="20" to="60" begin="100s" dur="5s"/></rect>',
    ),
    "view and cursor": draw(`<view id="v" viewBox="0 0 1 1"/>${square}`),
  };
}
