import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { cleanSvg } from "./clean-svg.ts";

const NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"';
const START = "data:image/svg+xml;base64,";

function svg(content: string): string {
  return `<svg ${NAMESPACE}>${content}</svg>`;
}

function image(url: string, element = "image"): string {
  return svg(
    `<${element} href="${url.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")}"/>`,
  );
}

function base64(content: string | Buffer): string {
  return `${START}${Buffer.from(content).toString("base64")}`;
}

/** The clean document within a clean document. */
function embedded(document: string): string | undefined {
  const cleaned = cleanSvg(Buffer.from(document));
  expect(cleanSvg(cleaned).equals(cleaned)).toBe(true);
  const [, content] = /href="data:image\/svg\+xml;base64,([^"]*)"/.exec(cleaned.toString()) ?? [];
  return content === undefined ? undefined : Buffer.from(content, "base64").toString();
}

const hostile = svg(
  '<script>a()</script><rect id="ü#%" onclick="b()" fill="url(http://a)"/><image href="http://a/"/><style>@import "x";r{r:1}</style>',
);
const harmless = svg('<rect id="ü#%" fill="none"/><image/><style>r{r:1}</style>');

describe("cleanSvg and embedded SVGs", () => {
  test.each<[title: string, url: string]>([
    ["base64", base64(hostile)],
    ["base64 with line breaks", base64(hostile).replace(/.{60}/g, "$&\n  ")],
    ["base64 with escapes", `${START}${encodeURIComponent(Buffer.from(hostile).toString("base64"))}`],
    ["percent escapes", `data:image/svg+xml,${encodeURIComponent(hostile)}`],
    [
      "percent escapes and a character set",
      `data:image/svg+xml;charset=utf-8,${encodeURIComponent(hostile)}`,
    ],
    ["plain text", `data:image/svg+xml;utf8,${hostile.replaceAll("%", "%25").replaceAll("#", "%23")}`],
    ["UTF-16", base64(Buffer.from(`\ufeff${hostile}`, "utf16le"))],
    [
      "entities",
      base64(
        `<!DOCTYPE svg [<!ENTITY i "ü#&#37;"><!ENTITY s "<script/>">]>${hostile.replace("ü#%", "&i;")}`.replace(
          "<image",
          "&s;<image",
        ),
      ),
    ],
    ["upper case", base64(hostile).replace(START, "DATA:Image/SVG+XML;Base64,")],
  ])("an SVG in %s is cleaned by the same rules, in image and feImage", (_, url) => {
    expect(embedded(image(url))).toBe(harmless);
    expect(embedded(image(url, "feImage"))).toBe(harmless);
    expect(embedded(image(url, "use"))).toBeUndefined();
  });

  test.each<[title: string, url: string]>([
    ["compressed", base64(gzipSync(harmless))],
    ["broken", base64(harmless.slice(0, -1))],
    ["of another type", base64(harmless).replace("image/svg+xml", "text/xml")],
    ["of another root", base64(`<html xmlns="http://www.w3.org/1999/xhtml">${harmless}</html>`)],
    ["in damaged base64", `${base64(harmless)}!`],
    ["nested too deeply", base64(`<svg>${"<g>".repeat(250)}${"</g>".repeat(250)}</svg>`)],
    ["empty", base64("")],
  ])("an SVG that is %s is dropped, and the rest is kept", (_, url) => {
    expect(embedded(image(url))).toBeUndefined();
  });

  test("SVGs are kept in SVGs down to the third", () => {
    let document = svg("<g/>");
    for (let depth = 0; depth < 5; depth++) document = image(base64(document));
    const depths: string[] = [];
    for (let next: string | undefined = document; next !== undefined; next = embedded(next))
      depths.push(next);
    expect(depths).toHaveLength(4);
    expect(depths.at(-1)).toBe(svg("<image/>"));
  });

  test("elements and entities of all embedded SVGs count together", () => {
    const drawings = (elements: number): string =>
      svg(`<image href="${base64(svg("<g/>".repeat(elements)))}"/>`.repeat(4));
    expect(embedded(drawings(12_490))).toContain("<g/>");
    expect(() => cleanSvg(Buffer.from(drawings(12_500)))).toThrow("more than 50000 elements");
    const expanding = base64(
      `<!DOCTYPE svg [<!ENTITY a "${"x".repeat(1000)}">]><svg><desc>${"&a;".repeat(300)}</desc></svg>`,
    );
    expect(() => cleanSvg(Buffer.from(svg(`<image href="${expanding}"/>`.repeat(4))))).toThrow(
      "expand to too much text",
    );
  });

  test("nests of many copies are cleaned or refused in a bounded CPU time", () => {
    const started = process.cpuUsage();
    let document = svg("<g/>".repeat(500));
    for (let depth = 0; depth < 3; depth++) {
      document = svg(`<image href="${base64(document)}"/>`.repeat(12));
      try {
        cleanSvg(Buffer.from(document));
      } catch (error) {
        expect(error).toMatchObject({ code: "unsupported_media" });
      }
    }
    expect(process.cpuUsage(started).user).toBeLessThan(30_000_000);
  });

  /** Groups, each using the one before ten times. */
  const uses = (leaf: string, levels: number): string =>
    Array.from({ length: levels }, (_, n) => n).reduce(
      (groups, n) => `${groups}<g id="g${n + 1}">${`<use href="#g${n}"/>`.repeat(10)}</g>`,
      `<g id="g0">${leaf}</g>`,
    );

  test("what use draws of embedded SVGs counts together", () => {
    const picture = `<image href="${base64(svg(uses("<g/>", 2)))}"/>`;
    expect(embedded(svg(uses(picture, 2)))).toContain("<use");
    const repeated = `<image href="${base64(svg(uses(picture, 2)))}"/>`;
    for (const content of [
      uses(picture, 4),
      uses(repeated, 2),
      `<g id="a">${picture}<g><use href="#a"/></g></g>`,
    ]) {
      expect(() => cleanSvg(Buffer.from(svg(content)))).toThrow("draws more than 500000 elements");
    }
    // Each draws all before it.
    const chain = Array.from({ length: 49_000 }, (_, n) => `<use id="u${n + 1}" href="#u${n}"/>`).join("");
    expect(() => cleanSvg(Buffer.from(svg(chain + picture)))).toThrow("draws more than 500000 elements");
    // Without embedded SVGs librsvg itself keeps to its limit.
    expect(cleanSvg(Buffer.from(svg(uses("<g/>", 7)))).toString()).toContain("<use");
  });
});

const OPEN_TAG = '<svg xmlns="http://www.w3.org/2000/svg">';

test.each<[title: string, content: string, left: string]>([
  [
    "what use can draw",
    '<x:y xmlns:x="z"><rect id="a"/><g><x:z><path id="b"/>t</x:z></g><rect/></x:y><use href="#a"/>',
    '<defs><rect id="a"/><path id="b"/></defs><use href="#a"/>',
  ],
  [
    "all that is in it, and what is unknown in that",
    '<blink><g id="a"><rect/><x><circle/><circle id="b"/></x></g></blink>',
    '<defs><g id="a"><rect/><defs><circle id="b"/></defs></g></defs>',
  ],
  ["style sheets", "<x><style>a{r:1}</style></x>", "<defs><style>a{r:1}</style></defs>"],
  [
    "neither what browsers do not find there nor what changes the drawing elsewhere",
    '<x><linearGradient id="a"/><clipPath id="b"/><filter id="c"/><set id="d" href="#e" to="1"/><title id="f">t</title></x>',
    "",
  ],
  [
    "nothing of what acts, embeds or holds data",
    '<x><script id="a"/><foreignObject id="a"><rect id="b"/></foreignObject><metadata><rect id="c"/></metadata></x><q:script><rect id="d"/></q:script>',
    "",
  ],
  [
    "nothing in HTML and MathML",
    '<div xmlns="http://www.w3.org/1999/xhtml"><rect xmlns="http://www.w3.org/2000/svg" id="a"/></div><x><m:m xmlns:m="http://www.w3.org/1998/Math/MathML"><rect id="a"/></m:m></x>',
    "",
  ],
  [
    "nothing where it would be drawn or chosen",
    '<switch><x><rect id="a"/></x><g/></switch><text><x><text id="a"/></x></text><rect><x><rect id="a"/></x></rect>',
    "<switch><g/></switch><text/><rect/>",
  ],
])("cleanSvg keeps of an unknown element %s", (_, content, left) => {
  const cleaned = cleanSvg(Buffer.from(`${OPEN_TAG}${content}</svg>`)).toString();
  expect(cleaned).toBe(left === "" ? OPEN_TAG.replace(">", "/>") : `${OPEN_TAG}${left}</svg>`);
  expect(cleanSvg(Buffer.from(cleaned)).toString()).toBe(cleaned);
});
