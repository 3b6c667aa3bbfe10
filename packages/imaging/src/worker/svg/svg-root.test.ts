import { expect, test } from "vitest";
import { readSvgRoot, withRootAttributes, writeSvgRoot } from "./svg-root.ts";

const NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"';

test("readSvgRoot and writeSvgRoot keep the attributes of a clean root", () => {
  const clean = `<svg ${NAMESPACE} id="a&quot;&gt;&#10;" width="9"><g/></svg>`;
  const root = readSvgRoot(Buffer.from(clean));
  expect([...root.attributes]).toEqual([
    ["xmlns", "http://www.w3.org/2000/svg"],
    ["id", 'a">\n'],
    ["width", "9"],
  ]);
  expect(writeSvgRoot(root).toString()).toBe(clean);
  expect(writeSvgRoot(withRootAttributes(root, { width: '"', height: "2" })).toString()).toBe(
    `<svg ${NAMESPACE} id="a&quot;&gt;&#10;" width="&quot;" height="2"><g/></svg>`,
  );
});

test("writeSvgRoot keeps an empty root empty", () => {
  const root = readSvgRoot(Buffer.from(`<svg ${NAMESPACE}/>`));
  expect(writeSvgRoot(withRootAttributes(root, { width: "1" })).toString()).toBe(
    `<svg ${NAMESPACE} width="1"/>`,
  );
});

test.each([
  `<svg ${NAMESPACE} width='9'><g/></svg>`,
  `<svg ${NAMESPACE} width="&#57;"><g/></svg>`,
  `<svg ${NAMESPACE} id="a>b" width="9"><g/></svg>`,
  `<?xml version="1.0"?><svg ${NAMESPACE} width="9"><g/></svg>`,
  `<s:svg xmlns:s="http://www.w3.org/2000/svg" width="9"><s:g/></s:svg>`,
])("readSvgRoot cleans a document that begins with %s", (svg) => {
  const root = readSvgRoot(Buffer.from(svg));
  expect(root.attributes.get("width")).toBe("9");
  expect(root.content.toString()).toBe("<g/></svg>");
});

test("readSvgRoot refuses a document that is not SVG", () => {
  expect(() => readSvgRoot(Buffer.from("GIF89a"))).toThrow("its XML is broken");
});
