import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { unreadable } from "../../../test/unreadable.ts";
import { cleanSvg, cleanUpload } from "./clean-svg.ts";

const NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"';
const XLINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"';
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M/wHwAEBgIApD5fRAAAAABJRU5ErkJggg==";

function clean(svg: string | Buffer): string {
  return cleanSvg(Buffer.from(svg)).toString();
}

/** Cleans content within a root, and returns the result without the root. */
function cleanContent(content: string, prolog = ""): string {
  const cleaned = clean(`${prolog}<svg ${NAMESPACE} ${XLINK}>${content}</svg>`);
  expect(clean(cleaned)).toBe(cleaned);
  return cleaned.replace(/^<svg xmlns="[^"]*"(?: xmlns:xlink="[^"]*")?\/?>|<\/svg>$/g, "");
}

describe("cleanSvg", () => {
  const expected = `<svg ${NAMESPACE} width="9"><g id="a"><rect width="1"/>ü &amp; ∑</g></svg>`;
  const content = '<g id="a"><rect width="1"></rect>&#252; &amp; ∑</g>';

  test.each<[title: string, svg: string | Buffer]>([
    ["itself", expected],
    [
      "a declaration, comments, instructions and a DOCTYPE",
      `<?xml version="1.0"?><!--a--><?b c?><!DOCTYPE svg><svg ${NAMESPACE} width="9"><!--d-->${content.replace("ü", "ü<?e?>")}</svg>\n<!--f-->`,
    ],
    [
      "prefixes",
      `<s:svg xmlns:s="http://www.w3.org/2000/svg" width="9">${content.replace(/<(\/?)(g|rect)/g, "<$1s:$2")}</s:svg>`,
    ],
    ["an empty line in front", `\n <?xml version="1.0"?><svg ${NAMESPACE} width="9">${content}</svg>`],
    ["no namespace", `<svg width="9">${content}</svg>`],
    ["another quote and other whitespace", `<svg\n\t${NAMESPACE}\n width='9' >${content}</svg >`],
    ["CDATA", `<svg ${NAMESPACE} width="9"><g id="a"><rect width="1"/>ü<![CDATA[ & ]]>∑</g></svg>`],
    [
      "entities",
      `<!DOCTYPE svg [<!ENTITY n "9"><!ENTITY u "&#252; ">]><svg ${NAMESPACE} width="&n;"><g id="a"><rect width="1"/>&u;&amp; ∑</g></svg>`,
    ],
    [
      "entities of markup",
      `<!DOCTYPE svg [<!ENTITY r "<rect width='&n;'></rect>"><!ENTITY n "1"><!ENTITY u "&#38;#252; "><!ENTITY x SYSTEM "x">]><svg ${NAMESPACE} width="9"><g id="a">&r;&u;<!--&r;-->&amp; ∑&x;</g></svg>`,
    ],
    [
      "UTF-16",
      Buffer.from(
        `\ufeff<?xml version="1.0" encoding="UTF-16"?><svg ${NAMESPACE} width="9">${content}</svg>`,
        "utf16le",
      ),
    ],
    ["gzip", gzipSync(`<svg ${NAMESPACE} width="9">${content}</svg>`)],
    ["XML 1.1", `<?xml version="1.1"?><svg ${NAMESPACE} width="9">${content}</svg>`],
  ])("gives the same result for a document with %s", (_, svg) => {
    expect(clean(svg)).toBe(expected);
  });

  test("keeps whitespace in text and escaped characters, and names xlink where it is used", () => {
    const text =
      '<text xml:space="preserve" aria-label="a&#10;b&quot;" lang="de"> a\n\tb&#13; <tspan> </tspan>&gt;&lt;</text>';
    expect(cleanContent(text)).toBe(text);
    expect(clean(`<svg ${NAMESPACE} xmlns:l="http://www.w3.org/1999/xlink"><use l:href="#a"/></svg>`)).toBe(
      `<svg ${NAMESPACE} ${XLINK}><use xlink:href="#a"/></svg>`,
    );
    expect(clean(`<svg ${NAMESPACE}><use xlink:href="#a"/></svg>`)).toContain(
      `${XLINK}><use xlink:href="#a"/>`,
    );
  });
});

test.each<[title: string, content: string, left: string]>([
  [
    "elements of other languages, with what they hold",
    '<foreignObject><rect/></foreignObject><x:y xmlns:x="z"><g/></x:y><g/>',
    "<g/>",
  ],
  ["elements that are not known", "<blink><rect/></blink><RECT/><font><glyph/></font><g/>", "<g/>"],
  [
    "metadata and editors' data",
    '<metadata><g/></metadata><g xmlns:i="urn:i" i:label="x" data-a="b" i:href="#a"/>',
    "<g/>",
  ],
  [
    "elements in text elements",
    "<title>a<g>b</g>c</title><style>d{r:1}<g>e{r:1}</g></style>",
    "<title>ac</title><style>d{r:1}</style>",
  ],
  [
    "attributes that are not known",
    '<g onclick="a()" OnClick="a()" foo="b" tabindex="0" target="x" xml:base="http://a/" id="c"/>',
    '<g id="c"/>',
  ],
  ["undeclared prefixes", '<q:g/><g q:a="b" id="c"/>', '<g id="c"/>'],
  [
    "references to anything else",
    '<use href="a.svg#b"/><use href="#b"/><use xlink:href=" #c "/><use href="#"/>',
    '<use/><use href="#b"/><use xlink:href="#c"/><use/>',
  ],
  [
    "links out of the document, not what is in them",
    '<a href="https://a.example" xlink:href="#b"><g/></a>',
    '<a xlink:href="#b"><g/></a>',
  ],
  [
    "pictures of anything but bytes of a raster or SVG",
    `<image href="a.png"/><image href="data:text/xml;base64,PHN2Zy8+"/><image href="data:image/png;base64,PHN2Zy8+"/><image href="data:image/png,x"/><image href="data:image/png;base64,iVBOR!"/><image href="#a"/>`,
    "<image/><image/><image/><image/><image/><image/>",
  ],
  [
    "presentation that loads",
    '<g fill="url(http://a/#b)" stroke="url(#c)" filter="url(//a)" mask="\\75rl(#b)"/>',
    '<g fill="none" stroke="url(#c)"/>',
  ],
  [
    "paint servers elsewhere, not the colour named instead",
    '<g fill="url(a.svg#b) #abc" stroke="url(&quot;http://a&quot;) rgb(1, 2, 3)"/>',
    '<g fill="#abc" stroke="rgb(1, 2, 3)"/>',
  ],
  [
    "style sheets of other languages",
    '<style type="text/less">a{r:1}</style><style type="TEXT/CSS">b{r:1}</style><style type="">c{r:1}</style>',
    '<style type="TEXT/CSS">b{r:1}</style><style type="">c{r:1}</style>',
  ],
  [
    "declarations that load",
    '<g style="fill:red;mask:url(a)"/><g style="mask:url(a)"/>',
    '<g style="fill:red"/><g/>',
  ],
  [
    "rules that load",
    "<style>@import 'a';b{r:1}</style><style>@import 'a'</style>",
    "<style>b{r:1}</style><style/>",
  ],
  [
    "animations of references and styles",
    '<set attributeName="href" to="#a"/><animate attributeName="xlink:href"/><set attributeName=" style "/><animate attributeName="onclick"/>',
    "",
  ],
  [
    "animated addresses",
    '<animate attributeName="fill" values="red;url(http://a)" to="a:b" from="url(#c)"/>',
    '<animate attributeName="fill" from="url(#c)"/>',
  ],
])("cleanSvg drops %s", (_, content, left) => {
  expect(cleanContent(content)).toBe(left);
});

test("cleanSvg keeps embedded rasters and removes their line breaks", () => {
  const broken = PIXEL.replace(/.{20}/g, "$&\n ");
  const picture = `<image xlink:href="data:image/png;base64,${PIXEL}"/>`;
  for (const start of [
    "image/PNG;base64",
    "image/png; charset=utf-8 ;base64",
    "image/x-png;base64",
    "IMG/*;BASE64",
    ";base64",
  ]) {
    expect(cleanContent(`<image xlink:href=" data:${start},${broken}"/>`)).toBe(picture);
  }
  const bytes = [...Buffer.from(PIXEL, "base64")];
  for (const content of [
    `;base64,${PIXEL.replaceAll("=", "%3D").replaceAll("+", "%2b")}`,
    `;base64,${PIXEL.replace(/=+$/, "")}#a`,
    `,${bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")}`,
  ]) {
    expect(cleanContent(`<image xlink:href="data:image/png${content}"/>`)).toBe(picture);
  }
  // librsvg draws nothing of another declared type.
  expect(cleanContent(`<image xlink:href="data:image/jpeg;base64,${PIXEL}"/>`)).toBe(picture);
  expect(cleanContent(`<feImage href="data:image/png;base64,${PIXEL}"/>`)).toContain(PIXEL);
  expect(cleanContent(`<use href="data:image/png;base64,${PIXEL}"/>`)).toBe("<use/>");
});

const nested = (depth: number): string =>
  `<svg ${NAMESPACE}>${"<g>".repeat(depth - 1)}${"</g>".repeat(depth - 1)}</svg>`;
const elements = (count: number): string => `<svg ${NAMESPACE}>${"<g/>".repeat(count - 1)}</svg>`;
const attributes = (count: number): string =>
  `<svg ${NAMESPACE}><g ${Array.from({ length: count }, (_, n) => `a${n}=""`).join(" ")}/></svg>`;
const expansion = (references: number): string =>
  `<!DOCTYPE svg [<!ENTITY a "${"x".repeat(1000)}">]><svg ${NAMESPACE}><desc>${"&a;".repeat(references)}</desc></svg>`;

test("cleanSvg accepts documents at its limits", () => {
  for (const svg of [nested(250), elements(50_000), attributes(256), expansion(1000)]) {
    expect(clean(clean(svg))).toBe(clean(svg));
  }
});

test.each<[title: string, svg: string, clause: string]>([
  ["a greater depth", nested(251), "it is nested deeper than 250"],
  ["depth in what is dropped", nested(251).replaceAll("g>", "x>"), "it is nested deeper than 250"],
  ["more elements", elements(50_001), "it has more than 50000 elements"],
  ["more attributes", attributes(257), "it has an element of more than 256 attributes"],
  ["more by entities", expansion(1001), "its entities expand to too much text"],
  [
    "more by entities of one attribute",
    expansion(1001).replace("<desc>", '<g id="').replace("</desc>", '"/>'),
    "its entities expand to too much text",
  ],
  [
    "more bytes once escaped",
    `<svg ${NAMESPACE}><text>${">".repeat(2_500_000)}</text></svg>`,
    "it is more than 10 MB of text",
  ],
  ["another root", "<html><svg/></html>", "its root element is not svg"],
  ["a root of another namespace", '<svg xmlns="urn:x"/>', "its root element is not svg"],
  ["no XML", "PNG", "damaged: its XML is broken in line 1"],
  ["XML without an end", `<svg ${NAMESPACE}>\n<g`, "damaged: its XML is broken in line 2"],
  ["tags that do not match", `<svg ${NAMESPACE}><g></svg>`, "damaged: its XML is broken in line 1"],
  [
    "an entity that is not declared",
    `<svg ${NAMESPACE}>&nbsp;</svg>`,
    "damaged: its XML is broken in line 1",
  ],
  [
    "an attribute twice",
    `<svg ${NAMESPACE} ${XLINK} xmlns:b="http://www.w3.org/1999/xlink"><use xlink:href="#a" b:href="#b"/></svg>`,
    "damaged: its XML is broken in line 1",
  ],
  ["a character that XML has not", `<svg ${NAMESPACE}>&#1;</svg>`, "damaged: its XML is broken in line 1"],
])("cleanSvg refuses %s", (_, svg, clause) => {
  expect(() => clean(svg)).toThrow(unreadable("image/svg+xml", clause));
});

test.each([
  "</svg>",
  "abc",
  "&amp;",
  "\0\0",
  "<!-- -- -->",
  `<svg ${NAMESPACE}><g/></svg>`,
  "<script/>",
  "<",
])("cleanSvg drops %j after the root", (rest) => {
  const svg = `<svg ${NAMESPACE}><g/></svg>`;
  expect(clean(`${svg}${rest}`)).toBe(svg);
});

test("cleanSvg keeps the parser's words for the log only, and at most one line of them", () => {
  const name = "x".repeat(100_000);
  expect(() => clean(`<svg ${NAMESPACE}><${name}>`)).toThrow(
    expect.objectContaining({
      message: "The file is damaged or incomplete: its XML is broken in line 1.",
      cause: expect.objectContaining({ message: expect.stringMatching(/^unclosed tag: x{50,110}$/) }),
    }),
  );
});

test("cleanSvg cleans a megabyte in linear time", () => {
  const path = `<path id="p" transform="translate(1,2) rotate(3)" style="fill:#abc;filter:url(#f)" d="${"M1.5 2.25L3 4 ".repeat(20)}"/>\n`;
  const svg = Buffer.from(`<svg ${NAMESPACE}>${path.repeat(2500)}</svg>`);
  const started = process.cpuUsage();
  expect(cleanSvg(svg).equals(svg)).toBe(true);
  expect(process.cpuUsage(started).user).toBeLessThan(20_000_000);
});

test("text of HTML that is removed is noticed, unless a switch offers something else", () => {
  const html = (content: string) =>
    `<foreignObject><div xmlns="http://www.w3.org/1999/xhtml">${content}</div></foreignObject>`;
  for (const [content, lostText] of [
    [html("<span>Start</span>"), true],
    [`<g>${html("<![CDATA[Start]]>")}</g>`, true],
    [`<switch>${html("Start")}<text>Start</text></switch>`, false],
    [html("<style>p { color: red }</style><br/>\n"), false],
    ["<text>Start</text><title>Name</title><desc>Words</desc>", false],
    ["<metadata>Words</metadata><script>run()</script>", false],
  ] as const) {
    const bytes = Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${content}</svg>`,
    );
    expect(cleanUpload(bytes).lostText, content).toBe(lostText);
  }
});
