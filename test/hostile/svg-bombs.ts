import type { Bomb } from "./bomb.ts";
import { blackRows, png } from "./raster-bombs.ts";

const SVG_HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';

function svg(content: string, size = 'width="100" height="100"', doctype = ""): Buffer {
  return Buffer.from(`${doctype}${SVG_HEAD} ${size}>${content}</svg>`);
}

/** `levels` entities, each ten times the previous one. */
function laughs(levels: number): string {
  const entities = Array.from(
    { length: levels },
    (_, level) => `<!ENTITY e${level + 1} "${`&e${level};`.repeat(10)}">`,
  );
  return `<!DOCTYPE svg [<!ENTITY e0 "ha">${entities.join("")}]>`;
}

function embedded(drawing: Buffer): string {
  return `<image width="99" height="99" href="data:image/svg+xml;base64,${drawing.toString("base64")}"/>`;
}

/** `levels` groups, each using the previous one ten times. */
function uses(levels: number, leaf = '<path d="M0 0h1v1z"/>'): string {
  const groups = Array.from(
    { length: levels },
    (_, level) => `<g id="g${level + 1}">${`<use xlink:href="#g${level}"/>`.repeat(10)}</g>`,
  );
  return `<defs><g id="g0">${leaf}</g>${groups.join("")}</defs><use xlink:href="#g${levels}"/>`;
}

function filtered(side: number, primitives: string): Buffer {
  return svg(
    `<filter id="f" x="0" y="0" width="100%" height="100%">${primitives}</filter><rect width="100%" height="100%" filter="url(#f)"/>`,
    `width="${side}" height="${side}"`,
  );
}

export function svgs(): Bomb[] {
  const list: [title: string, ends: Bomb["ends"], bytes: Buffer][] = [
    ["an SVG of a billion laughs", "unreadable", svg("<text>&e9;</text>", undefined, laughs(9))],
    [
      "an SVG of quadratic entities",
      "unreadable",
      svg(
        `<text>${"&a;".repeat(50_000)}</text>`,
        undefined,
        `<!DOCTYPE svg [<!ENTITY a "${"a".repeat(50_000)}">]>`,
      ),
    ],
    [
      "an SVG of an entity of itself",
      "unreadable",
      svg("<text>&a;</text>", undefined, '<!DOCTYPE svg [<!ENTITY a "&a;">]>'),
    ],
    ["an SVG of 10^12 uses", "unreadable", svg(uses(12))],
    ["an SVG of 10^9 uses of an SVG of 10^9 uses", "unreadable", svg(embedded(svg(uses(9))))],
    [
      "an SVG of 10^3 uses of an SVG of 10^3 uses of an SVG of 10^3 uses",
      "unreadable",
      svg(uses(3, embedded(svg(uses(3, embedded(svg(uses(3)))))))),
    ],
    [
      "an SVG of 12 SVGs of 12 SVGs of 12 SVGs of 99 circles",
      "bounded",
      [1, 2, 3].reduce((inner) => svg(embedded(inner).repeat(12)), svg('<circle r="9"/>'.repeat(99))),
    ],
    ["an SVG of a use of itself", "bounded", svg('<g id="g"><use xlink:href="#g"/></g>')],
    ["an SVG of 60 blurs of 4000²", "dear", filtered(4000, '<feGaussianBlur stdDeviation="90"/>'.repeat(60))],
    [
      "an SVG of turbulence of 6000²",
      "dear",
      filtered(6000, '<feTurbulence baseFrequency="0.9" numOctaves="100"/>'.repeat(4)),
    ],
    [
      "an SVG of a wide morphology",
      "dear",
      filtered(4000, '<feMorphology operator="dilate" radius="900"/>'.repeat(9)),
    ],
    [
      "an SVG of 300,000 circles",
      "bounded",
      svg(
        Array.from({ length: 300_000 }, (_, n) => `<circle r="9" cx="${n % 100}" cy="9"/>`).join(""),
        'width="2000" height="2000"',
      ),
    ],
    ["an SVG of two million letters", "bounded", svg(`<text>${"letter ".repeat(285_000)}</text>`)],
    ["an SVG of a font of a million", "bounded", svg('<text font-size="1000000">ABCDEFGH</text>')],
    ["an SVG of 100000²", "bounded", svg('<rect width="9" height="9"/>', 'width="100000" height="100000"')],
    [
      "an SVG of a side of 10^30",
      "bounded",
      svg('<rect width="9" height="9"/>', 'width="1e30" height="1e30"'),
    ],
    ["an SVG of zero width and negative height", "bounded", svg("", 'width="0" height="-5"')],
    ["an SVG of 100,000 levels", "unreadable", svg("<g>".repeat(100_000) + "</g>".repeat(100_000))],
    [
      "an SVG of 100,000 attributes",
      "bounded",
      svg(`<g ${Array.from({ length: 100_000 }, (_, n) => `a${n}="b"`).join(" ")}/>`),
    ],
    ["an SVG of an attribute of 12 MB", "bounded", svg(`<path d="${"M0 0h1v1z".repeat(1_300_000)}"/>`)],
    [
      "an SVG of dashes of a millionth",
      "bounded",
      svg('<path d="M0 0h99999" stroke="#000" stroke-dasharray=".000001"/>', 'width="5000" height="5000"'),
    ],
    [
      "an SVG of patterns within patterns",
      "bounded",
      svg(
        `${Array.from(
          { length: 12 },
          (_, n) =>
            `<pattern id="p${n + 1}" width=".01" height=".01"><rect width="99" height="99" fill="url(#p${n})"/></pattern>`,
        ).join("")}<rect width="99" height="99" fill="url(#p12)"/>`,
      ),
    ],
    [
      "an SVG with a PNG of 16000² in it",
      "bounded",
      svg(
        `<image width="99" height="99" xlink:href="data:image/png;base64,${png({ width: 16_000, height: 16_000, depth: 1 }, blackRows(16_000, 16_000, 1)).toString("base64")}"/>`,
      ),
    ],
  ];
  return list.map(([title, ends, bytes]) => ({ title, ends, bytes, type: "image/svg+xml" }));
}

/** SVGs that request a file and an address, in every way possible in SVG. */
export function reachingSvgs(filePath: string, address: string): { title: string; bytes: Buffer }[] {
  const file = `file://${filePath}`;
  const text = '<text x="0" y="60" font-size="60" fill="#f00">&x;</text>';
  const ways = (target: string, name: string): [title: string, bytes: Buffer][] => [
    [`an entity of ${name}`, svg(text, undefined, `<!DOCTYPE svg [<!ENTITY x SYSTEM "${target}">]>`)],
    [
      `a parameter entity of ${name}`,
      svg(text, undefined, `<!DOCTYPE svg [<!ENTITY % p SYSTEM "${target}"> %p;]>`),
    ],
    [`a DTD at ${name}`, svg("<g/>", undefined, `<!DOCTYPE svg SYSTEM "${target}">`)],
    [`an image at ${name}`, svg(`<image width="100" height="100" href="${target}" xlink:href="${target}"/>`)],
    [`a filter's image at ${name}`, filtered(100, `<feImage xlink:href="${target}"/>`)],
    [`a use of ${name}`, svg(`<use href="${target}#a" xlink:href="${target}#a"/>`)],
    [
      `an inclusion of ${name}`,
      svg(`<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="${target}" parse="text"/>`),
    ],
    [
      `a style import of ${name}`,
      svg(
        `<style>@import url("${target}"); @font-face{font-family:x;src:url("${target}")}</style><text font-family="x">x</text>`,
      ),
    ],
    [
      `a style instruction at ${name}`,
      Buffer.from(`<?xml-stylesheet type="text/css" href="${target}"?>${svg("<g/>")}`),
    ],
    [`a paint at ${name}`, svg(`<rect width="100" height="100" fill="url(${target}#a)"/>`)],
    [
      `a picture within a picture at ${name}`,
      svg(
        `<image width="99" height="99" xlink:href="data:image/svg+xml;base64,${svg(`<image width="99" height="99" xlink:href="${target}"/>`).toString("base64")}"/>`,
      ),
    ],
  ];
  return [
    ...ways(file, "a file"),
    ...ways(filePath, "a path"),
    // CVE-2023-38633 of librsvg.
    ...ways(`.?../../../../../../../../../..${filePath}`, "a path after a query"),
    ...ways(address, "an address"),
  ].map(([title, bytes]) => ({ title, bytes }));
}
