import sharp from "sharp";
import { NAMES } from "./attack.ts";

/** Harmless drawings of many kinds, by name, as drawing programs and people write them. */
export async function sampleSvgs(): Promise<Record<string, string>> {
  return { ...paints, ...structures, ...texts, ...programs, ...(await embeddings()) };
}

/** A drawing of 60 by 40. */
function drawing(content: string, attributes = 'width="60" height="40"'): string {
  return `<svg ${NAMES} ${attributes}>${content}</svg>`;
}

const paints: Record<string, string> = {
  gradients: drawing(
    `<defs><linearGradient id="a" gradientTransform="rotate(30)"><stop offset="0" stop-color="#f00"/><stop offset="1" stop-color="rgb(0, 60%, 100%)" stop-opacity=".5"/></linearGradient>
    <radialGradient id="b" xlink:href="#a" fx="20%" gradientUnits="userSpaceOnUse" cx="45" cy="20" r="15"/></defs>
    <rect width="30" height="40" fill="url(#a)"/><circle cx="45" cy="20" r="15" fill="url('#b') #000"/>`,
  ),
  filters: drawing(
    `<filter id="f" x="-20%" y="-20%" width="140%" height="140%"><feTurbulence baseFrequency=".1" seed="3" result="n"/>
    <feGaussianBlur in="SourceAlpha" stdDeviation="2" result="b"/><feOffset in="b" dx="3" dy="3"/><feColorMatrix type="saturate" values=".4"/>
    <feComponentTransfer><feFuncA type="linear" slope=".7"/></feComponentTransfer>
    <feSpecularLighting in="b" surfaceScale="4" specularExponent="20" lighting-color="#fc8"><fePointLight x="9" y="9" z="30"/></feSpecularLighting>
    <feMerge><feMergeNode/><feMergeNode in="SourceGraphic"/></feMerge></filter>
    <rect x="10" y="8" width="30" height="20" rx="4" fill="#39c" filter="url(#f)"/>`,
  ),
  "filter functions": drawing(
    '<rect x="9" y="9" width="40" height="20" fill="#c33" style="filter: blur(1px) drop-shadow(2px 2px 1px rgb(0 0 0 / 50%)) hue-rotate(40deg)"/>',
  ),
  "masks and clip paths": drawing(
    `<mask id="m"><rect width="60" height="40" fill="#fff"/><circle cx="30" cy="20" r="9" fill="black"/></mask>
    <clipPath id="c" clipPathUnits="objectBoundingBox"><ellipse cx=".5" cy=".5" rx=".5" ry=".4"/></clipPath>
    <g mask="url(#m)"><rect width="60" height="40" fill="#285" clip-path="url(#c)"/></g>`,
  ),
  "markers and dashes": drawing(
    `<marker id="e" viewBox="0 0 10 10" refX="5" refY="5" markerWidth="4" markerHeight="4" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z"/></marker>
    <polyline points="5,35 20,10 35,30 55,5" fill="none" stroke="#224" stroke-width="2" stroke-dasharray="6 2" marker-start="url(#e)" marker-mid="url(#e)" marker-end="url(#e)"/>`,
  ),
  patterns: drawing(
    `<pattern id="p" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(20) scale(1.2)"><path d="M0 0h4v4h-4zM4 4h4v4h-4z" fill="#a52"/></pattern>
    <rect width="60" height="40" fill="url(#p)" stroke="url(#p)" stroke-width="3"/>`,
  ),
  "blending and paint order": drawing(
    `<rect width="40" height="40" fill="#f80"/><rect x="20" width="40" height="40" fill="#08f" style="mix-blend-mode:multiply;isolation:auto"/>
    <text x="6" y="28" font-size="24" fill="#fff" stroke="#000" stroke-width="4" paint-order="stroke" vector-effect="non-scaling-stroke">AB</text>`,
  ),
};

const structures: Record<string, string> = {
  "symbols and uses": drawing(
    `<defs><symbol id="s" viewBox="0 0 10 10" preserveAspectRatio="xMinYMid slice"><path d="M0 0L10 10M10 0L0 10" stroke="currentColor"/></symbol></defs>
    <use xlink:href="#s" width="20" height="20" color="#c06"/><use href="#s" x="30" y="10" width="25" height="15" color="#06c"/>`,
  ),
  "nested drawings": drawing(
    '<svg x="10" y="5" width="40" height="30" viewBox="0 0 4 3" overflow="visible"><rect width="4" height="3" fill="#7a3"/><svg x="50%" y="50%" width="50%" height="50%"><circle r="1" fill="#fff"/></svg></svg>',
    'width="60" height="40" viewBox="0 0 60 40"',
  ),
  switches: drawing(
    `<switch><g systemLanguage="xx"><rect width="60" height="40" fill="red"/></g><g requiredExtensions="http://example.com/none"><rect width="60" height="40"/></g><rect width="60" height="40" fill="#6c6"/></switch>`,
  ),
  "links to nowhere": drawing(
    '<a xlink:title="t" target="_top"><rect width="30" height="40" fill="#96c"/></a>',
  ),
  animations: drawing(
    `<rect width="10" height="10" fill="#000"><animate attributeName="x" values="0;50;0" dur="3s" repeatCount="indefinite"/>
    <animateTransform attributeName="transform" type="rotate" from="0 5 5" to="360 5 5" dur="2s"/></rect>
    <circle r="4" fill="#d40"><animateMotion path="M10,20 C20,0 40,40 50,20" dur="4s" rotate="auto"/><set attributeName="fill" to="#04d" begin="1s"/></circle>`,
  ),
  "no namespace at all": '<svg width="60" height="40"><rect width="60" height="20" fill="#c80"/></svg>',
  "only a view box": drawing('<path d="M0 0L30 20L0 20z" fill="#246"/>', 'viewBox="-5 -5 60 40"'),
  "no size at all": drawing('<rect x="3" y="4" width="50" height="30" fill="#642"/>', ""),
};

const texts: Record<string, string> = {
  "spans and paths of text": drawing(
    `<path id="t" d="M5 35Q30 5 55 35" fill="none"/><text font-family="DejaVu Sans, sans-serif" font-size="9" font-weight="bold"><textPath xlink:href="#t" startOffset="10%">on a path</textPath></text>
    <text x="3" y="10" font-size="8" xml:space="preserve">a  b <tspan dy="2" fill="#c00" font-style="italic">c</tspan>
      <tspan x="3" dy="9" textLength="30" letter-spacing="1">d &amp; e</tspan></text>`,
  ),
  "letters of the world": drawing(
    '<text y="20" font-size="12">Grüße, ελ, &#x416;, 中 &#128512;</text><text y="35" font-size="9" direction="rtl" x="55" unicode-bidi="embed">שלום</text>',
  ),
  "a style sheet": drawing(
    `<style type="text/css"><![CDATA[
      /* shapes */ .st0 { fill: #2a6; stroke: none } rect.st1, #x > circle:first-child { fill:url(#g); stroke:#000; }
      @media screen { .st2 { opacity: .5 } } @media print { .st0 { display: none } } @font-face { font-family: none; src: url(none.woff) }
      text { font: bold 12px/1.5 "DejaVu Sans", sans-serif !important; } svg :not(text)[class~="st3"] { fill: hsl(200, 50%, 50%) }
    ]]></style><linearGradient id="g"><stop stop-color="#e4c"/></linearGradient>
    <rect class="st0" width="20" height="40"/><rect class="st1" x="20" width="20" height="20"/><g id="x"><circle cx="50" cy="10" r="9"/></g>
    <rect class="st2 st3" x="20" y="20" width="20" height="20"/><text x="41" y="38">Ab</text>`,
  ),
  "declarations of its own": drawing(
    `<g style="fill:#0a8;fill-opacity:1;stroke:#000000;stroke-width:1.5px;stroke-linejoin:round;-inkscape-font-specification:'Sans, Bold'">
    <path style=" transform : translate(4px,5px) ; color: red " d="M0,0 30,0 15,25z"/></g><rect x="40" width="9" height="9" style="fill:RGB(9,9,200);;opacity:.6"/>`,
  ),
};

const programs: Record<string, string> = {
  Illustrator: `<?xml version="1.0" encoding="utf-8"?>
<!-- Generator: Adobe Illustrator 24.0.1, SVG Export Plug-In . SVG Version: 6.00 Build 0)  -->
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [
	<!ENTITY ns_extend "http://ns.adobe.com/Extensibility/1.0/">
	<!ENTITY ns_ai "http://ns.adobe.com/AdobeIllustrator/10.0/">
	<!ENTITY ns_svg "http://www.w3.org/2000/svg">
	<!ENTITY ns_xlink "http://www.w3.org/1999/xlink">
	<!ENTITY st0 "fill:#3399CC;">
]>
<svg version="1.1" id="Ebene_1" xmlns:x="&ns_extend;" xmlns:i="&ns_ai;" xmlns="&ns_svg;" xmlns:xlink="&ns_xlink;" x="0px" y="0px"
	 viewBox="0 0 60 40" style="enable-background:new 0 0 60 40;" xml:space="preserve" i:viewOrigin="0 40">
<metadata><sfw xmlns="&ns_ai;"><slices></slices></sfw></metadata>
<switch><foreignObject requiredExtensions="&ns_ai;" x="0" y="0" width="1" height="1"><i:pgfRef xlink:href="#adobe_illustrator_pgf"/></foreignObject>
<g i:extraneous="self"><path style="&st0;" d="M10,5h40v30H10V5z"/></g></switch>
</svg>`,
  Inkscape: `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<svg xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:cc="http://creativecommons.org/ns#" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:svg="http://www.w3.org/2000/svg" xmlns="http://www.w3.org/2000/svg" xmlns:sodipodi="http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape"
   width="21.166mm" height="14.111mm" viewBox="0 0 60 40" version="1.1" inkscape:version="1.0" sodipodi:docname="plan.svg" inkscape:export-xdpi="96">
  <defs><inkscape:perspective sodipodi:type="inkscape:persp3d" id="persp"/><svg:linearGradient id="lg" inkscape:collect="always"><svg:stop style="stop-color:#ffcc00;stop-opacity:1;" offset="0"/></svg:linearGradient></defs>
  <sodipodi:namedview pagecolor="#ffffff"/><metadata><rdf:RDF><cc:Work rdf:about=""><dc:creator>someone</dc:creator></cc:Work></rdf:RDF></metadata>
  <g inkscape:label="Layer 1" inkscape:groupmode="layer" id="layer1" transform="matrix(0.9,0,0,0.9,2,1)"><rect style="opacity:1;fill:url(#lg);stroke-width:0.26" width="40" height="30" ry="3.2" sodipodi:nodetypes="cc"/></g>
</svg>`,
  Sketch: `<?xml version="1.0" encoding="UTF-8"?>
<svg width="60px" height="40px" viewBox="0 0 60 40" version="1.1" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:sketch="http://www.bohemiancoding.com/sketch/ns">
    <title>icon</title><desc>Created with Sketch.</desc><defs><path d="M5,5 L55,5 L30,35 Z" id="path-1"></path></defs>
    <g id="Page-1" stroke="none" stroke-width="1" fill="none" fill-rule="evenodd" sketch:type="MSPage"><mask id="mask-2" fill="white"><use xlink:href="#path-1"></use></mask><use fill="#D8D8D8" xlink:href="#path-1"></use><rect fill="#417505" mask="url(#mask-2)" x="20" y="0" width="20" height="40"></rect></g>
</svg>`,
  "a web page's icon": `<svg xmlns="http://www.w3.org/2000/svg" style="width:24px;height:24px" viewBox="0 0 24 24" data-v-1="" aria-hidden="true" focusable="false" class="icon"><path fill="currentColor" d="M12,2A10,10 0 0,0 2,12A10,10 0 0,0 12,22A10,10 0 0,0 22,12A10,10 0 0,0 12,2Z" /></svg>`,
  "a chart library": `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40" font-family="sans-serif" text-anchor="middle"><g class="axis" transform="translate(0,30)" fill="none"><path class="domain" stroke="currentColor" d="M5.5,6V.5H55.5V6"/><g class="tick" opacity="1" transform="translate(10.5,0)"><line stroke="currentColor" y2="6"/><text fill="currentColor" y="9" dy=".71em" font-size="6">1</text></g></g><rect x="10" y="9" width="9" height="21" fill="steelblue"/></svg>`,
};

/** Embedded raster images, some of them split over lines. */
async function embeddings(): Promise<Record<string, string>> {
  const picture = sharp({
    create: { width: 12, height: 8, channels: 4, background: { r: 200, g: 80, b: 0, alpha: 0.7 } },
  });
  const png = (await picture.clone().png().toBuffer()).toString("base64");
  const jpeg = (await picture.clone().jpeg().toBuffer()).toString("base64");
  const lines = png.replace(/.{76}/g, "$&\n");
  return {
    "an embedded PNG": drawing(
      `<image x="5" y="5" width="24" height="16" xlink:href="data:image/png;base64,${lines}"/>`,
    ),
    "an embedded JPEG": drawing(
      `<image width="60" height="40" preserveAspectRatio="none" href="data:image/jpeg;base64,${jpeg}" opacity=".8"/><image y="20" width="9" height="9" href=" data:image/jpg;base64,${jpeg}"/>`,
    ),
    "an embedded picture in a filter": drawing(
      `<filter id="f"><feImage xlink:href="data:image/png;base64,${png}" result="i"/><feBlend in="SourceGraphic" in2="i" mode="multiply"/></filter><rect width="50" height="30" fill="#9c9" filter="url(#f)"/>`,
    ),
  };
}
