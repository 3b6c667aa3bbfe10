import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { cleanSvg } from "./clean-svg.ts";
import { MAX_SVG_BYTES } from "./decode-svg-text.ts";
import { resizeSvg } from "./resize-svg.ts";
import { MAX_WRAPPED_BYTES, wrapRaster } from "./svg-writer.ts";

const NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"';
/** A cross, percentages, strokes and text, which a wrong box would move. */
const content = `<rect width="50%" height="100%" fill="#36c"/><path d="M0 0L60 40M60 0L0 40" stroke="#c30" stroke-width="3"/><text x="9" y="30" font-size="14">Ab</text>`;

function clean(attributes: string, inside = content): Buffer {
  return cleanSvg(Buffer.from(`<svg ${NAMESPACE} ${attributes}>${inside}</svg>`));
}

function rootOf(svg: Buffer): string {
  return svg.toString("utf8", 0, svg.indexOf(">")).replace(`<svg ${NAMESPACE}`, "").trim();
}

async function pixels(svg: Buffer, options = {}) {
  const { data, info } = await sharp(svg, options).raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

test.each<[before: string, width: number, height: number, after: string]>([
  ['width="60" height="40"', 30, 20, 'width="30" height="20" viewBox="0 0 60 40"'],
  ['viewBox="0 0 60 40"', 30, 20, 'viewBox="0 0 60 40" width="30" height="20"'],
  ['width="1in" height="36pt"', 10, 5, 'width="10" height="5" viewBox="0 0 72 36"'],
  ['width="60" height="40"', 10, 7, 'width="10" height="7" viewBox="0 0 60 40" preserveAspectRatio="none"'],
  ['width="60" height="40" viewBox="0 0 10 10"', 10, 7, 'width="10" height="7" viewBox="0 0 10 10"'],
  [
    'width="60" height="40" viewBox="0 0 10 10" preserveAspectRatio="xMinYMin slice"',
    30,
    20,
    'width="30" height="20" viewBox="0 0 10 10" preserveAspectRatio="xMinYMin slice"',
  ],
  ['width="1e9" height="1e9"', 10, 10, 'width="10" height="10" viewBox="0 0 1000000000 1000000000"'],
  [
    'style="fill:red;width:24px;height:24px" viewBox="0 0 24 24"',
    48,
    48,
    'style="fill:red;width:48px!important;height:48px!important" viewBox="0 0 24 24" width="48" height="48"',
  ],
])("a root with %s becomes %i by %i", (before, width, height, after) => {
  expect(rootOf(resizeSvg(clean(before), { width, height }))).toBe(after);
});

test("resizeSvg takes the old size from the caller if the drawing declares none", () => {
  const unsized = clean("");
  expect(rootOf(resizeSvg(unsized, { width: 30, height: 20 }, { width: 60, height: 40 }))).toContain(
    'viewBox="0 0 60 40"',
  );
  expect(rootOf(resizeSvg(unsized, { width: 30, height: 20 }))).toContain('viewBox="0 0 30 20"');
});

describe("a resized SVG equals librsvg's drawing at that scale:", () => {
  test.each([
    'width="60" height="40"',
    'viewBox="0 0 60 40"',
    'width="60" height="40" viewBox="-10 -10 60 40"',
    'width="60" height="40" viewBox="0 0 100 20"',
    'width="60" height="40" viewBox="0 0 100 20" preserveAspectRatio="xMaxYMin slice"',
    'width="60" height="40" viewBox="0 0 100 20" preserveAspectRatio="none"',
    'width="2in" height="96pt" viewBox="0 0 60 40"',
    'width="10" height="10" style="width:60px;height:40px;stroke:#000" viewBox="0 0 60 40"',
  ])("%s", async (attributes) => {
    const svg = clean(attributes);
    const expected = await pixels(svg, { density: 144 });
    const size = { width: expected.width, height: expected.height };
    const resized = resizeSvg(svg, size);
    const drawn = await pixels(resized);
    expect({ width: drawn.width, height: drawn.height }).toEqual(size);
    expect(drawn.data.equals(expected.data)).toBe(true);
    expect(cleanSvg(resized).equals(resized)).toBe(true);
  });

  test("a drawing that a style sheet sizes", async () => {
    const svg = clean(
      'width="10" height="10" viewBox="0 0 60 40"',
      `<style>svg{width:60px!important;height:40px}</style>${content}`,
    );
    const drawn = await pixels(resizeSvg(svg, { width: 120, height: 80 }));
    expect(drawn).toEqual(await pixels(svg, { density: 144 }));
  });
});

test("a resized SVG fills its box despite rounding of the aspect ratio", async () => {
  const svg = clean('width="300" height="100"', '<rect width="300" height="100" fill="#fff"/>');
  const { data } = await pixels(resizeSvg(svg, { width: 50, height: 17 }));
  expect(new Set(data)).toEqual(new Set([255]));
});

test("resizing an SVG twice equals resizing it once", () => {
  for (const attributes of ['width="60" height="40"', 'style="width:60px;height:40px" viewBox="0 0 60 40"']) {
    const once = resizeSvg(clean(attributes), { width: 30, height: 20 });
    const twice = resizeSvg(resizeSvg(clean(attributes), { width: 90, height: 60 }), {
      width: 30,
      height: 20,
    });
    expect(twice.toString()).toBe(once.toString());
  }
});

const picture = sharp({ create: { width: 7, height: 5, channels: 3, background: "#09c" } });

test.each([
  ["image/png", "png"],
  ["image/jpeg", "jpeg"],
  ["image/gif", "gif"],
] as const)("a wrapped %s is a clean SVG that holds its bytes", async (mediaType, format) => {
  const raster = await picture.clone().toFormat(format).toBuffer();
  const wrapped = wrapRaster(raster, mediaType, { width: 7, height: 5 });
  expect(cleanSvg(wrapped).equals(wrapped)).toBe(true);
  const [, embedded = ""] = /xlink:href="data:image\/\w+;base64,([^"]+)"/.exec(wrapped.toString()) ?? [];
  expect(Buffer.from(embedded, "base64").equals(raster)).toBe(true);
  expect(wrapped.toString()).toContain(`data:${mediaType};`);
});

test("a wrapped raster is drawn pixel by pixel, or stretched to the size", async () => {
  const wide = { raw: { width: 2, height: 1, channels: 3 } } as const;
  const png = await sharp(Buffer.from([255, 0, 0, 0, 0, 255]), wide)
    .png()
    .toBuffer();
  const same = await sharp(wrapRaster(png, "image/png", { width: 2, height: 1 }))
    .removeAlpha()
    .raw()
    .toBuffer();
  expect([...same]).toEqual([255, 0, 0, 0, 0, 255]);
  const stretched = sharp(wrapRaster(png, "image/png", { width: 8, height: 9 })).removeAlpha();
  const { info } = await stretched.clone().raw().toBuffer({ resolveWithObject: true });
  expect([info.width, info.height]).toEqual([8, 9]);
  const corner = await stretched.extract({ left: 7, top: 8, width: 1, height: 1 }).raw().toBuffer();
  expect([...corner]).toEqual([0, 0, 255]);
});

test("a wrapped raster of MAX_WRAPPED_BYTES is an accepted SVG", () => {
  const raster = Buffer.alloc(MAX_WRAPPED_BYTES);
  raster.write("GIF89a", "latin1");
  const wrapped = wrapRaster(raster, "image/gif", { width: 65_535, height: 65_535 });
  expect(wrapped.length).toBeLessThanOrEqual(MAX_SVG_BYTES);
  expect(cleanSvg(wrapped).equals(wrapped)).toBe(true);
});
