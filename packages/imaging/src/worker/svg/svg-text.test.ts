import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { unreadable } from "../../../test/unreadable.ts";
import { decodeSvgText, MAX_SVG_BYTES } from "./decode-svg-text.ts";
import { holdMarkup, readEntities, replaceEntities } from "./doctype-entities.ts";

function read(subset: string): Record<string, string> {
  return Object.fromEntries(readEntities(` svg [${subset}]`));
}

test.each<[title: string, doctype: string, entities: Record<string, string>]>([
  ["without a subset", " svg", {}],
  [
    "of SVG 1.1",
    ' svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"',
    {},
  ],
  ["with brackets in an identifier", " svg SYSTEM \"a[<!ENTITY x 'y'>]b\"", {}],
  [
    "of Illustrator",
    ' svg PUBLIC "a" "b" [\n<!ENTITY ns_svg "http://www.w3.org/2000/svg">\n]',
    { ns_svg: "http://www.w3.org/2000/svg" },
  ],
])("readEntities reads a DOCTYPE %s", (_, doctype, entities) => {
  expect(Object.fromEntries(readEntities(doctype))).toEqual(entities);
});

test.each<[title: string, subset: string, entities: Record<string, string>]>([
  ["in either quotes", `<!ENTITY a "x'y"><!ENTITY b 'x"y>]'>`, { a: "x'y", b: 'x"y>]' }],
  [
    "among comments, instructions and other declarations",
    `<!-- <!ENTITY c "no"> ' --><?x ">?><!ATTLIST svg a CDATA "x>y"><!ELEMENT g ANY><!ENTITY a "b">`,
    { a: "b" },
  ],
  [
    "with characters by number",
    '<!ENTITY nbsp "&#160;"><!ENTITY smile "&#x1F600;">',
    { nbsp: "\u00a0", smile: "😀" },
  ],
  ["twice: the first holds", '<!ENTITY a "1"><!ENTITY a "2">', { a: "1" }],
  [
    "of other entities",
    '<!ENTITY c "&a;&a;-&b;"><!ENTITY a "&b;&#120;"><!ENTITY b "1">',
    { c: "1x1x-1", a: "1x", b: "1" },
  ],
  ["of markup", `<!ENTITY a "<rect id='b'/>">`, { a: "<rect id='b'/>" }],
  [
    "of markup and references by number",
    '<!ENTITY a "&#60;g/>"><!ENTITY b "&#38;#60;">',
    { a: "<g/>", b: "&#60;" },
  ],
  ["of a character that is none", '<!ENTITY a "&#xD800;">', { a: "&#xD800;" }],
  ["of entities that are not declared", '<!ENTITY a "&b;&lt;">', { a: "&b;&lt;" }],
  [
    "from outside, as empty",
    '<!ENTITY a SYSTEM "a.txt"><!ENTITY b PUBLIC "a" "b"><!ENTITY c SYSTEM "b" NDATA d>',
    { a: "", b: "", c: "" },
  ],
  [
    "but not those for declarations",
    '<!ENTITY % a "b"><!ENTITY % c SYSTEM "d">%c;<!ENTITY a "e">',
    { a: "e" },
  ],
  ["of great length", `<!ENTITY a "${"x".repeat(100_000)}">`, { a: "x".repeat(100_000) }],
  ["that XML has already", '<!ENTITY lt "&#38;#60;"><!ENTITY amp "x">', {}],
  [
    "with the name of something else",
    '<!ENTITY constructor "a"><!ENTITY __proto__ "b">',
    JSON.parse('{"constructor":"a","__proto__":"b"}'),
  ],
])("readEntities reads entities %s", (_, subset, entities) => {
  expect(read(subset)).toEqual(entities);
});

test("readEntities reads many entities", () => {
  const many = Array.from({ length: 5000 }, (_, n) => `<!ENTITY a${n} "b${n}">`);
  expect(readEntities(` svg [${many.join("")}]`).get("a4999")).toBe("b4999");
});

const laughs = Array.from({ length: 30 }, (_, n) => `<!ENTITY a${n + 1} "&a${n};&a${n};">`).join("");

test.each<[title: string, subset: string, clause: string]>([
  ["of itself", '<!ENTITY a "&a;">', "holds itself"],
  ["of itself in another", '<!ENTITY a "&b;"><!ENTITY b "x&a;">', "holds itself"],
  ["that doubles thirty times", `<!ENTITY a0 "lol">${laughs}`, "expand to too much text"],
  ["after something else", '<x/><!ENTITY a "b">', "cannot be read"],
  ["without a value", "<!ENTITY a b>", "without a value"],
  ["without an end", '<!ENTITY a "b', "cannot be read"],
  ["of a section", '<![INCLUDE[<!ENTITY a "b">]]>', "cannot be read"],
])("readEntities refuses an entity %s", (_, subset, clause) => {
  expect(() => read(subset)).toThrow(clause);
});

test("replaceEntities replaces references, but not in comments, CDATA and instructions", () => {
  const values = new Map([
    ["a", "<g/>"],
    ["b", `"'`],
  ]);
  expect(holdMarkup(values)).toBe(true);
  const kept = "<!--&a;--><![CDATA[&a;]]><?x &a;?>&c;&#38;&lt;";
  const text = `&a;${kept}<g id="&b;"/><!-- &a;`;
  expect(replaceEntities(text, (name) => values.get(name))).toBe(`<g/>${kept}<g id="&quot;&apos;"/><!-- &a;`);
});

test("replaceEntities reads a document of any kind in linear time", () => {
  const started = process.cpuUsage();
  for (const piece of ["<!--", "<![CDATA[", "<?", "&a", "&a;", "&"]) {
    replaceEntities(piece.repeat(1_000_000), () => "b");
  }
  expect(process.cpuUsage(started).user).toBeLessThan(20_000_000);
});

test("readEntities reads or refuses a DOCTYPE of any length in linear time", () => {
  const started = process.cpuUsage();
  for (const text of [
    "<!ENTITY ".repeat(29_000),
    `<!-- ${"-".repeat(260_000)}`,
    "] ".repeat(130_000),
    '"'.repeat(262_000),
  ]) {
    expect(() => read(text)).toThrow("DOCTYPE");
  }
  expect(() => read(" ".repeat(262_144))).toThrow("its DOCTYPE is too long");
  expect(process.cpuUsage(started).user).toBeLessThan(20_000_000);
});

const svg = '<svg xmlns="http://www.w3.org/2000/svg"><title>Grüße, 中</title></svg>';
const declared = (encoding: string): string => `<?xml version="1.0" encoding="${encoding}"?>`;

test.each<[title: string, bytes: Buffer, text: string]>([
  ["UTF-8", Buffer.from(svg), svg],
  ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${svg}`), svg],
  ["UTF-8 that is declared", Buffer.from(declared("utf-8") + svg), declared("utf-8") + svg],
  ["UTF-8 that is declared as UTF-16", Buffer.from(declared("UTF-16") + svg), declared("UTF-16") + svg],
  ["UTF-16 little endian", Buffer.from(`\ufeff${svg}`, "utf16le"), svg],
  ["UTF-16 big endian", Buffer.from(`\ufeff${svg}`, "utf16le").swap16(), svg],
  ["UTF-16 little endian without a mark", Buffer.from(svg, "utf16le"), svg],
  ["UTF-16 big endian without a mark", Buffer.from(svg, "utf16le").swap16(), svg],
  [
    "Latin-1",
    Buffer.from(`${declared("ISO-8859-1")}<svg>ü</svg>`, "latin1"),
    `${declared("ISO-8859-1")}<svg>ü</svg>`,
  ],
  [
    "Shift JIS",
    Buffer.concat([Buffer.from(declared("Shift_JIS")), Buffer.from("93fa967b", "hex")]),
    `${declared("Shift_JIS")}日本`,
  ],
  [
    "Windows-1251",
    Buffer.concat([Buffer.from(declared("windows-1251")), Buffer.of(0xcf)]),
    `${declared("windows-1251")}П`,
  ],
  [
    "an encoding of nowhere as UTF-8",
    Buffer.from(`${declared("x-klingon")}ü+ADw-`),
    `${declared("x-klingon")}ü+ADw-`,
  ],
  ["UTF-7 as UTF-8", Buffer.from(`${declared("utf-7")}+ADw-`), `${declared("utf-7")}+ADw-`],
  ["gzip", gzipSync(svg), svg],
  ["gzip of UTF-16", gzipSync(Buffer.from(`\ufeff${svg}`, "utf16le")), svg],
])("decodeSvgText reads %s", (_, bytes, text) => {
  expect(decodeSvgText(bytes)).toBe(text);
});

test.each<[title: string, bytes: Buffer, clause: string]>([
  ["nothing", Buffer.alloc(0), "it is empty"],
  ["gzip of nothing", gzipSync(""), "it is empty"],
  ["bytes that are not UTF-8", Buffer.from([0x3c, 0xff, 0xff]), "its text is not UTF-8"],
  ["half a character of UTF-16", Buffer.from([0xff, 0xfe, 0x3c]), "its text is not UTF-16LE"],
  ["half of a pair of UTF-16", Buffer.from("\ufeff\ud800", "utf16le"), "its text is not UTF-16LE"],
  [
    "bytes that are not UTF-8 in an encoding of nowhere",
    Buffer.concat([Buffer.from(declared("x-klingon")), Buffer.of(0xff)]),
    "its text is not UTF-8",
  ],
  ["damaged gzip", gzipSync(svg).subarray(0, 30), "damaged: it cannot be decompressed"],
  ["gzip of other bytes", Buffer.from("1f8b08000000", "hex"), "damaged: it cannot be decompressed"],
  ["more than there may be", Buffer.alloc(MAX_SVG_BYTES + 1, " "), "it is more than 10 MB of text"],
])("decodeSvgText refuses %s", (_, bytes, clause) => {
  expect(() => decodeSvgText(bytes)).toThrow(unreadable("image/svg+xml", clause));
});

test("decodeSvgText refuses a gzip bomb without unpacking it", () => {
  const bomb = gzipSync(Buffer.alloc(60_000_000, " "));
  const before = process.memoryUsage().external;
  expect(() => decodeSvgText(bomb)).toThrow("it is more than 10 MB of text");
  expect(process.memoryUsage().external - before).toBeLessThan(50_000_000);
});
