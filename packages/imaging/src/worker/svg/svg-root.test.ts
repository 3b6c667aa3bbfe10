import sharp from "sharp";
import { describe, expect, test } from "vitest";
import {
  declaredSize,
  type ExactSize,
  readSvgRoot,
  readViewBox,
  wholeSize,
  withRootAttributes,
  writeSvgRoot,
} from "./svg-root.ts";

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

function svg(attributes: string, content = '<rect width="30" height="20"/>'): Buffer {
  return Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${content}</svg>`);
}

function declared(attributes: string, content?: string): ExactSize | undefined {
  return declaredSize(readSvgRoot(svg(attributes, content)));
}

const box = 'viewBox="0 0 300 200"';

describe("declaredSize equals librsvg's result:", () => {
  test.each([
    'width="10" height="20"',
    'width="10px" height="20PX"',
    'width="10pt" height="2pc"',
    'width="25.4mm" height="5.08cm"',
    'width="1in" height="1.5IN"',
    'width=" +10 " height="1e1px"',
    'width="10.4" height="10.5"',
    box,
    'viewBox=" -5,-5 , 300 200.5"',
    `width="100" ${box}`,
    `height="100" ${box}`,
    `width="100%" height="50" ${box}`,
    `width="50%" height="50%" ${box}`,
    `width="auto" height="auto" ${box}`,
    `width="10 px" height="1 0" ${box}`,
    'width="32767" height="1"',
  ])("the size of a root with %s", async (attributes) => {
    const size = declared(attributes);
    const { width, height } = await sharp(svg(attributes)).metadata();
    expect(size && wholeSize(size)).toEqual({ width, height });
  });
});

test.each<[attributes: string, size: ExactSize]>([
  [`width="100vw" height="50vh" ${box}`, { width: 300, height: 200 }],
  ['width="2rem" height="1rem"', { width: 32, height: 16 }],
  ['width="2em" height="1EM"', { width: 32, height: 16 }],
  ['width="2ex" height="3ch"', { width: 16, height: 24 }],
  ['width="2em" height="2rem" font-size="20"', { width: 40, height: 40 }],
  ['width="2em" height="1em" font-size="150%"', { width: 48, height: 24 }],
  [`width="2em" ${box}`, { width: 32, height: 64 / 3 }],
  ['width="80Q" height="101.6Q"', { width: 80 * (72 / 101.6), height: 72 }],
  [`width=".3" height="0.6"`, { width: 0.3, height: 0.6 }],
  ['width="1e9" height="1e99"', { width: 1e9, height: 1e9 }],
  ['viewBox="0 0 1e-200 1e200"', { width: 1e-200, height: 1e9 }],
])("a root with %s, which librsvg cannot measure, has a size", (attributes, size) => {
  expect(declared(attributes)).toEqual(size);
});

test.each([
  ["nothing", ""],
  ["one side and no view box", 'width="100"'],
  ["percentages and no view box", 'width="100%" height="100%"'],
  ["a view box that is none", 'viewBox="0 0 10"'],
  ["a view box without an area", 'viewBox="0 0 0 9"'],
  ["a negative view box", 'viewBox="0 0 -10 10"'],
  ["a unit of a font in a style", 'width="10em" height="20em" style="font:20px serif"'],
  ["a calculation", `width="calc(10px)" height="10" ${box}`],
  ["a style", `width="10" height="10" style="width:24px;height:24px" ${box}`],
])("declaredSize is undefined for a root with %s", (_, attributes) => {
  expect(declared(attributes)).toBeUndefined();
});

test("declaredSize is undefined with a style sheet that can size the root", () => {
  const attributes = 'width="10" height="10"';
  expect(declared(attributes, "<style/><style>svg{height : 5px}</style>")).toBeUndefined();
  expect(declared(attributes, "<style>a{stroke-width:5;max-height:9px}</style>")).toEqual({
    width: 10,
    height: 10,
  });
  expect(declared(attributes, "<text>width:5</text>")).toEqual({ width: 10, height: 10 });
});

test.each([
  ['width="0" height="9"', "its width is zero"],
  ['width="9" height="0%"', undefined],
  ['width="9" height="-0.0px"', "its height is zero"],
  [`width="-5" ${box}`, "its width is negative"],
  ['width="1e-999" height="9"', "its width is zero"],
])("a root with %s is refused: %s", (attributes, clause) => {
  if (clause === undefined) expect(declared(attributes)).toBeUndefined();
  else expect(() => declared(attributes)).toThrow(clause);
});

test.each([
  [10.4, 10.5, 10, 11],
  [0.3, 1e-200, 1, 1],
  [1e9, 1e9, 32_767, 32_767],
  [65_534, 100, 32_767, 50],
  [1, 1e9, 1, 32_767],
])("a size of %d by %d is drawn as %i by %i", (width, height, wholeWidth, wholeHeight) => {
  expect(wholeSize({ width, height })).toEqual({ width: wholeWidth, height: wholeHeight });
});

test("declaredSize scans any number of style sheets in linear time", () => {
  const started = process.cpuUsage();
  const many = "<style/>".repeat(1_000_000);
  for (const content of [
    many,
    `${many}<style>a{r:1}</style>${many}`,
    "<style>a{r:1}</style>".repeat(400_000),
  ]) {
    const clean = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${content}</svg>`;
    expect(declaredSize(readSvgRoot(Buffer.from(clean)))).toEqual({ width: 9, height: 9 });
  }
  expect(process.cpuUsage(started).user).toBeLessThan(20_000_000);
});

test("a long viewBox or width is rejected in linear time", () => {
  const started = process.cpuUsage();
  for (const text of [
    "1".repeat(1_000_000),
    " ".repeat(1_000_000),
    "1 ".repeat(500_000),
    "1,".repeat(500_000),
  ]) {
    expect(readViewBox(readSvgRoot(svg(`viewBox="${text}x"`)))).toBeUndefined();
    expect(declared(`width="${text}x"`)).toBeUndefined();
  }
  expect(process.cpuUsage(started).user).toBeLessThan(20_000_000);
});
