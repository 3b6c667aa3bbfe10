import sharp from "sharp";
import { NAMES } from "./attack.ts";
import { sampleSvgs } from "./samples.ts";

/** Drawings of `sampleSvgs` that librsvg draws differently, or that have no size of their own. */
const unlike = new Set([
  "a style sheet",
  "animations",
  "blending and paint order",
  "filters",
  "letters of the world",
  "no namespace at all",
  "no size at all",
  "spans and paths of text",
]);

/** Drawings of 60 by 40 that librsvg and Chromium draw alike if cleaning keeps what matters, by name. */
export async function likenessSamples(): Promise<Record<string, string | Buffer>> {
  const common = Object.entries(await sampleSvgs()).filter(([name]) => !unlike.has(name));
  return {
    ...Object.fromEntries(common),
    ...nestedSvgs(),
    ...foreignElements,
    ...documents,
    ...styles,
    ...(await rasters()),
  };
}

function drawing(content: string, attributes = 'width="60" height="40"'): string {
  return `<svg ${NAMES} ${attributes}>${content}</svg>`;
}

const GREEN = '<rect width="60" height="40" fill="#4a4"/>';
const disc = drawing('<circle cx="30" cy="20" r="18" fill="#c33"/><script>a()</script>');

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

function base64(svg: string | Buffer): string {
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
}

function image(url: string, attributes = ""): string {
  return `<image width="60" ${attributes.includes("height") ? "" : 'height="40"'} ${attributes} xlink:href="${escaped(url)}"/>`;
}

function nestedSvgs(): Record<string, string> {
  const gif = "data:image/gif;base64,R0lGODlhAQABAIAAAP8AAAAAACwAAAAAAQABAAACAkQBADs=";
  let deep = disc;
  for (let depth = 1; depth <= 3; depth++) {
    deep = drawing(
      `<rect width="60" height="40" fill="none" stroke="#33c" stroke-width="${2 * depth}"/>${image(base64(deep))}`,
    );
  }
  const small = drawing('<circle r="5" cx="5" cy="5"/>', 'width="20" height="10" viewBox="0 0 10 10"');
  return {
    "an embedded SVG in base64": drawing(image(base64(disc))),
    "an embedded SVG with percent escapes": drawing(
      image(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(disc)}`),
    ),
    "an embedded SVG as text": drawing(image(`data:image/svg+xml;utf8,${disc.replaceAll("#", "%23")}`)),
    "an embedded SVG in UTF-16": drawing(image(base64(Buffer.from(`\ufeff${disc}`, "utf16le")))),
    "an embedded SVG with entities": drawing(
      image(base64(`<!DOCTYPE svg [<!ENTITY c "#c33">]>${disc.replace("#c33", "&c;")}`)),
    ),
    "an embedded SVG of another shape": drawing(image(base64(small))),
    "a stretched embedded SVG": drawing(image(base64(disc), 'preserveAspectRatio="none" height="20"')),
    "embedded SVGs down to the third": deep,
    "an embedded SVG in a filter": drawing(
      `<filter id="f" x="0" y="0" width="1" height="1"><feImage href="${base64(disc)}"/></filter><rect width="60" height="40" filter="url(#f)"/>`,
    ),
    "an embedded SVG in a pattern": drawing(
      `<pattern id="p" width="20" height="20" patternUnits="userSpaceOnUse">${image(base64(disc)).replace('width="60"', 'width="20"')}</pattern><rect width="60" height="40" fill="url(#p)"/>`,
    ),
    "an embedded SVG drawn twice": drawing(
      `<defs><image id="i" width="20" height="20" href="${base64(disc)}"/></defs><use href="#i"/><use href="#i" x="30"/>`,
    ),
    "an embedded SVG with a GIF and a background": drawing(
      image(
        base64(
          drawing(
            `<image x="9" y="9" width="30" height="20" preserveAspectRatio="none" href="${gif}"/>`,
            'width="60" height="40" style="background:#39c"',
          ),
        ),
      ),
    ),
  };
}

const foreignElements: Record<string, string> = {
  "what use draws of an element of another language": drawing(
    '<a:b xmlns:a="urn:x"><rect id="r" width="60" height="40" fill="#4a4"/></a:b><use xlink:href="#r"/>',
  ),
  "what use draws of an unknown element": drawing(
    '<blink><a:b xmlns:a="urn:x"><g id="r"><rect width="60" height="40" fill="#4a4"/><blink><circle r="30"/></blink></g></a:b></blink><use href="#r"/>',
  ),
  "a gradient in an unknown element": drawing(
    '<blink><linearGradient id="g"><stop stop-color="red"/></linearGradient></blink><rect width="60" height="40" fill="url(#g) #4a4"/>',
  ),
  "what is not drawn of an unknown element": drawing(
    `<blink>${GREEN}</blink><circle cx="30" cy="20" r="9" fill="#c33"/>`,
  ),
  "a style sheet in an unknown element": drawing(
    `<blink><style>rect{fill:#4a4}</style></blink><rect width="40" height="40"/>`,
  ),
};

const documents: Record<string, string | Buffer> = {
  "entities of markup": `<!DOCTYPE svg [<!ENTITY r '<rect width="40" height="40" fill="#4a4"/>'>]>${drawing("&r;")}`,
  "entities elsewhere": `<!DOCTYPE svg [<!ENTITY r SYSTEM "a.txt"><!ENTITY % p SYSTEM "b"> %p;]>${drawing(`${GREEN}<text>&r;</text>`)}`,
  "many and long entities": `<!DOCTYPE svg [${Array.from({ length: 500 }, (_, n) => `<!ENTITY e${n} "${"M0 0h60v40z ".repeat(20)}">`).join("")}]>${drawing('<path d="&e7;" fill="#4a4"/>')}`,
  "an encoding of nowhere": `<?xml version="1.0" encoding="x-klingon"?>${drawing(GREEN)}`,
  "UTF-16": Buffer.from(`\ufeff${drawing(GREEN)}`, "utf16le"),
};

const styles: Record<string, string> = {
  "the background of the root": drawing(
    '<circle cx="30" cy="20" r="9"/>',
    'width="60" height="40" viewBox="20 10 10 20" style="background-color: rgb(51, 153, 204)"',
  ),
  "the background by a style sheet": drawing(
    "<style>svg{background:#39c}@media (prefers-color-scheme:dark){svg{background:#000}}</style><circle r='20'/>",
  ),
  "a paint server elsewhere": drawing(
    '<rect width="30" height="40" fill="url(a.svg#b) #4a4"/><rect x="30" width="30" height="40" style="fill:url(a.svg#b) #44a"/>',
  ),
  "a style sheet of another language": drawing(
    `<style type="text/less">rect{fill:red}</style>${GREEN}<circle r="20"/>`,
  ),
};

/** A raster in `data:` URLs of all forms that Chromium reads. */
async function rasters(): Promise<Record<string, string>> {
  const bytes = await sharp({ create: { width: 6, height: 4, channels: 3, background: "#c60" } })
    .png()
    .toBuffer();
  const content = bytes.toString("base64");
  const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const urls = {
    "a character set": `data:image/png;charset=utf-8;base64,${content}`,
    "an old type": `data:image/x-png; base64,${content}`,
    "no type": `data:;base64,${content}`,
    "the wrong type": `data:image/jpeg;base64,${content}`,
    "escaped base64": `data:image/png;base64,${encodeURIComponent(content)}`,
    "percent escapes": `data:image/png,${percent}`,
  };
  return Object.fromEntries(
    Object.entries(urls).map(([name, url]) => [`a raster with ${name}`, drawing(image(url))]),
  );
}
