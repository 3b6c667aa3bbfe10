import { expect, test } from "vitest";
import { readEntities } from "./doctype-entities.ts";

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
  ["that XML has already", '<!ENTITY lt "&#38;#60;"><!ENTITY amp "x">', {}],
  [
    "with the name of something else",
    '<!ENTITY constructor "a"><!ENTITY __proto__ "b">',
    JSON.parse('{"constructor":"a","__proto__":"b"}'),
  ],
])("readEntities reads entities %s", (_, subset, entities) => {
  expect(read(subset)).toEqual(entities);
});

test.each<[title: string, subset: string, clause: string]>([
  ["of a file", '<!ENTITY a SYSTEM "a.txt">', "not in the file itself"],
  ["of a catalogue", '<!ENTITY a PUBLIC "a" "b">', "not in the file itself"],
  ["for declarations", '<!ENTITY % a "b">', "not in the file itself"],
  ["that is no XML", '<!ENTITY a SYSTEM "b" NDATA c>', "not in the file itself"],
  ["of other entities", '<!ENTITY a "b"><!ENTITY c "&a;&a;">', "holds markup or another entity"],
  ["of itself", '<!ENTITY a "&a;">', "holds markup or another entity"],
  ["of markup", '<!ENTITY a "<rect/>">', "holds markup or another entity"],
  ["of markup by number", '<!ENTITY a "&#60;rect/>">', "holds markup or another entity"],
  ["of references by number", '<!ENTITY a "&#38;b;">', "holds markup or another entity"],
  ["of a character that is none", '<!ENTITY a "&#xD800;">', "holds markup or another entity"],
  ["of great length", `<!ENTITY a "${"x".repeat(1025)}">`, "more than 1024 characters"],
  [
    "in great number",
    Array.from({ length: 129 }, (_, n) => `<!ENTITY a${n} "b">`).join(""),
    "more than 128 entities",
  ],
  ["after a reference", '%x;<!ENTITY a "b">', "declares more than plain entities"],
  ["without an end", '<!ENTITY a "b', "declares more than plain entities"],
  ["of a section", '<![INCLUDE[<!ENTITY a "b">]]>', "declares more than plain entities"],
])("readEntities refuses an entity %s", (_, subset, clause) => {
  expect(() => read(subset)).toThrow(clause);
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
  expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
});
