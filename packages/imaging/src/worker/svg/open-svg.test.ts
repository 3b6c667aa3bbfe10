import { gzipSync } from "node:zlib";
import sharp from "sharp";
import { expect, test } from "vitest";
import type { PictureLimits } from "../../shared/wire.ts";
import { cleanSvg } from "./clean-svg.ts";
import { openSvg } from "./open-svg.ts";
import { wrapRaster } from "./svg-writer.ts";

const limits: PictureLimits = {
  maxPixels: 1_000_000,
  maxFrames: 60,
  maxSide: 8192,
  maxOutputPixels: 1_000_000,
};

const square = '<rect width="30" height="20" fill="#c00"/>';

function svg(attributes: string, content = square): Buffer {
  return cleanSvg(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${content}</svg>`));
}

async function draw(bytes: Buffer, drawnAs?: { width: number; height: number }) {
  const picture = await openSvg(bytes, limits);
  const pipeline = await picture.decode(drawnAs === undefined ? {} : { drawnAs });
  const { data, info } = await pipeline.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const pixel = (x: number, y: number): number[] => [
    ...data.subarray((y * info.width + x) * 4).subarray(0, 4),
  ];
  return { width: info.width, height: info.height, pixel };
}

test.each<[title: string, attributes: string, content: string, width: number, height: number]>([
  ["its attributes", 'width="30" height="20.4"', square, 30, 20],
  ["a view box", 'viewBox="0 0 30 20"', square, 30, 20],
  ["a style", 'style="width:24px;height:12px"', square, 24, 12],
  ["a style sheet", 'width="9" height="9"', `<style>svg{width:24px;height:12px}</style>${square}`, 24, 12],
  ["a font", 'width="10em" height="5em" font-size="20"', square, 200, 100],
  ["the font of browsers", 'width="10em" height="5rem"', square, 160, 80],
  ["a font in a style", 'width="10em" height="5ex" style="font-size:20px"', square, 200, 50],
  [
    "a font in a style sheet",
    'width="10em" height="5em"',
    `<style>svg{font-size:20px}</style>${square}`,
    200,
    100,
  ],
  ["a style in em", 'style="width:10em;height:5em"', square, 160, 80],
  ["a style in rem", 'style="width:10rem;height:5rem"', square, 160, 80],
  ["nothing but what is drawn", "", square, 30, 20],
  ["more than can be drawn", 'width="1e9" height="1e9"', square, 32_767, 32_767],
])("the natural size of an SVG is that of %s", async (_, attributes, content, width, height) => {
  const picture = await openSvg(svg(attributes, content), limits);
  expect(picture).toMatchObject({ natural: { width, height }, frames: 1, pages: 1, scalable: true });
});

test.each([
  [300, 200],
  [17, 11],
  [1, 1],
  [999, 2],
])("an SVG is drawn at exactly %i by %i", async (width, height) => {
  const drawn = await draw(svg('viewBox="0 0 30 20"'), { width, height });
  expect([drawn.width, drawn.height]).toEqual([width, height]);
  expect(drawn.pixel(width - 1, height - 1)).toEqual([204, 0, 0, 255]);
});

test("an SVG drawn at more than maxPixels is refused", async () => {
  await expect(draw(svg('width="1001" height="1000"'))).rejects.toThrow("exceeds pixel limit");
});

test("openSvg cleans a document first if necessary", async () => {
  const written =
    '<?xml version="1.0"?><s:svg xmlns:s="http://www.w3.org/2000/svg" width="30" height="20"><s:rect width="9" height="9" fill="#c00"/></s:svg>';
  for (const bytes of [Buffer.from(written), gzipSync(written), Buffer.from(`\ufeff${written}`, "utf16le")]) {
    const drawn = await draw(bytes);
    expect([drawn.width, drawn.height, ...drawn.pixel(5, 5)]).toEqual([30, 20, 204, 0, 0, 255]);
  }
});

test.each([
  ["nothing", Buffer.alloc(0), "it is empty"],
  ["another format", Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), "its text is not UTF-8"],
  ["a side of zero", svg('width="0" height="9"'), "its width is zero"],
  ["no size that can be computed", svg("", "<g/>"), "it has no size, and nothing in it has one"],
])("openSvg refuses %s", async (_, bytes, clause) => {
  await expect(openSvg(bytes, limits)).rejects.toMatchObject({
    code: "unsupported_media",
    message: expect.stringContaining(clause),
  });
});

test("openSvg draws the first frames of embedded GIFs, up to the pixel limit", async () => {
  const green = sharp({ create: { width: 800, height: 500, channels: 3, background: "#0a0" } });
  const reference = `href="data:image/gif;base64,${(await green.gif().toBuffer()).toString("base64")}"`;
  const images = [0, 8, 16].map((x) => `<image x="${x}" width="8" height="5" ${reference}/>`);
  const drawn = await draw(svg('width="24" height="5"', images.join("")));
  expect(drawn.pixel(4, 2)).toEqual([0, 170, 0, 255]);
  expect(drawn.pixel(12, 2)).toEqual([0, 170, 0, 255]);
  expect(drawn.pixel(20, 2)).toEqual([0, 0, 0, 0]);
});

test("openSvg leaves a damaged embedded GIF blank", async () => {
  const gif = Buffer.from("GIF89a\x10\0\x10\0\0\0\0", "latin1");
  expect((await draw(wrapRaster(gif, "image/gif", { width: 8, height: 5 }))).pixel(4, 2)).toEqual([
    0, 0, 0, 0,
  ]);
});

test("openSvg draws GIFs in embedded SVGs, within the pixel limit of the whole", async () => {
  const green = sharp({ create: { width: 800, height: 500, channels: 3, background: "#0a0" } });
  const gif = `data:image/gif;base64,${(await green.gif().toBuffer()).toString("base64")}`;
  const drawings = [0, 8, 16].map((x) => {
    const drawing = svg('width="8" height="5"', `<image width="8" height="5" href="${gif}"/><!--${x}-->`);
    return `<image x="${x}" width="8" height="5" href="data:image/svg+xml;base64,${drawing.toString("base64")}"/>`;
  });
  const drawn = await draw(svg('width="24" height="5"', drawings.join("")));
  expect(drawn.pixel(4, 2)).toEqual([0, 170, 0, 255]);
  expect(drawn.pixel(12, 2)).toEqual([0, 170, 0, 255]);
  expect(drawn.pixel(20, 2)).toEqual([0, 0, 0, 0]);
});

const dark = "<style>@media (prefers-color-scheme:dark){a{r:1}svg{background:#0c0}}</style>";

test.each<[title: string, attributes: string, content: string, pixel: number[]]>([
  ["a colour", 'style="background:#c00"', "", [204, 0, 0, 255]],
  ["a colour among others", 'style="background-color: rgb(0, 0, 204);fill:red"', dark, [0, 0, 204, 255]],
  ["a translucent colour", 'style="background:rgba(0,0,0,.5)"', "", [0, 0, 0, 128]],
  ["the last of several", 'style="background:#c00;background-color:#00c!important"', "", [0, 0, 204, 255]],
  ["a style sheet", "", "<style>rect{fill:red}\nsvg{fill:red;background:blue}</style>", [0, 0, 255, 255]],
  ["a style sheet for the root", "", "<style>:root{background:blue}</style>", [0, 0, 255, 255]],
  ["a style sheet for the dark", "", dark, [0, 0, 0, 0]],
  ["no colour", 'style="background:none"', "", [0, 0, 0, 0]],
  ["a word that is no colour", 'style="background:inherit"', "", [0, 0, 0, 0]],
  [
    "a colour, whatever the rules for shapes",
    'style="background:#c00"',
    "<style>path{fill:lime!important;opacity:.5;stroke:lime}</style>",
    [204, 0, 0, 255],
  ],
])("the background of an SVG's root is drawn: %s", async (_, attributes, content, pixel) => {
  for (const box of ["", 'viewBox="100 100 10 10"', 'viewBox="0 0 90 10"']) {
    const drawn = await draw(svg(`width="30" height="20" ${box} ${attributes}`, content));
    for (const [x, y] of [
      [0, 0],
      [29, 19],
      [15, 10],
    ] as const)
      expect(drawn.pixel(x, y)).toEqual(pixel);
  }
});

test("an SVG whose view box has no area is blank", async () => {
  const drawn = await draw(svg('width="30" height="20" viewBox="0 0 0 20"'), { width: 9, height: 6 });
  expect(drawn.pixel(4, 3)).toEqual([0, 0, 0, 0]);
});

test("lengths of fonts within a drawing are those of browsers", async () => {
  const content = '<rect width="1em" height="10"/>';
  const { pixel } = await draw(svg('width="40" height="10"', content));
  expect([pixel(15, 5)[3], pixel(17, 5)[3]]).toEqual([255, 0]);
  const own = await draw(svg('width="40" height="10" font-size="20"', content));
  expect([own.pixel(19, 5)[3], own.pixel(21, 5)[3]]).toEqual([255, 0]);
});

test.each([
  ...[
    "a b|url(#a%20b)",
    "a b|url('#a b')",
    "a b|url(#a\\ b)",
    "ä|url(#ä)",
    "ä|url(#%C3%A4)",
    "ä|url('#%c3%a4')",
  ],
  ...[
    "a(b)|url(#a%28b%29)",
    "a(b)|url('#a(b)')",
    "a'b|url(\"#a'b\")",
    "a\\b|url('#a\\\\b')",
    "50%|url(#50%)",
  ],
  ...["a;b|url(#a;b)", "a@b|url(#a@b)", "a<b|url('#a<b')", "😀|url(#%F0%9F%98%80)", "ab|url(\\23 \\61 b)"],
])("a paint server is found by its decoded name: %s", async (pair) => {
  const [id = "", reference = ""] = pair
    .split("|")
    .map((text) => text.replace(/[&<"]/g, (c) => `&#${c.charCodeAt(0)};`));
  const server = `<linearGradient id="${id}"><stop stop-color="#0c0"/></linearGradient>`;
  for (const use of [`fill="${reference}"`, `style="fill:${reference}"`]) {
    const { pixel } = await draw(
      svg('width="30" height="20"', `${server}<rect width="30" height="20" ${use}/>`),
    );
    expect(pixel(15, 10), use).toEqual([0, 204, 0, 255]);
  }
  const sheet = `<style>rect{fill:${reference}}</style>${server}<rect width="30" height="20"/>`;
  expect((await draw(svg('width="30" height="20"', sheet))).pixel(15, 10)).toEqual([0, 204, 0, 255]);
});

test("a link is decoded, a literal escape names nothing, and an invalid address counts as absent", async () => {
  const shapes = (id: string, link: string) =>
    `<defs><rect id="${id}" width="30" height="20" fill="#0c0"/></defs><use ${link}/>`;
  for (const link of ['href="#a%20b"', 'xlink:href="#a%20b"', 'href="#a&#10; b"']) {
    const { pixel } = await draw(svg('width="30" height="20"', shapes("a b", link)));
    expect(pixel(15, 10), link).toEqual([0, 204, 0, 255]);
  }
  const literal = await draw(svg('width="30" height="20"', shapes("a%20b", 'href="#a%20b"')));
  expect(literal.pixel(15, 10)).toEqual([0, 0, 0, 0]);
  const server = '<linearGradient id="a b"><stop stop-color="#0c0"/></linearGradient>';
  for (const use of ['fill="url(#a b)"', 'fill="url(#a(b)) red"', 'style="fill:url(#a b) red"']) {
    const invalid = await draw(
      svg('width="30" height="20"', `${server}<rect width="30" height="20" ${use}/>`),
    );
    expect(invalid.pixel(15, 10), use).toEqual([0, 0, 0, 255]);
  }
});

test("a reference with an escape of a character that XML forbids names nothing", async () => {
  const uses = ["#a%01", "#a%00", "#%EF%BF%BF", "#a%0b"].flatMap((part) => [
    `<use href="${part}"/><rect width="30" height="20" fill="#00c"/>`,
    `<rect width="30" height="20" fill="url(${part}) #00c"/>`,
    `<rect width="30" height="20" style="fill:url('${part}') #00c"/>`,
  ]);
  const sheets = ["\\1 b", "\\0 b", "\\ffff b", "\\d800 b"].map(
    (part) => `<style>rect{fill:url("#a${part}") #00c}</style><rect width="30" height="20"/>`,
  );
  for (const content of [...uses, ...sheets]) {
    const { pixel } = await draw(svg('width="30" height="20"', content));
    expect(pixel(15, 10), content).toEqual([0, 0, 204, 255]);
  }
});

/** The corner of the picture, in quarters, that each orientation moves its first pixels to. */
const CORNERS = {
  1: "left top",
  2: "right top",
  3: "right bottom",
  4: "left bottom",
  5: "left top",
  6: "right top",
  7: "right bottom",
  8: "left bottom",
} as const;

test.each(Object.entries(CORNERS))(
  "an embedded picture of EXIF orientation %s is drawn upright",
  async (orientation, corner) => {
    const picture = sharp({ create: { width: 40, height: 20, channels: 3, background: "#00f" } })
      .composite([
        { input: { create: { width: 20, height: 10, channels: 3, background: "#f00" } }, left: 0, top: 0 },
      ])
      .withMetadata({ orientation: Number(orientation) });
    const isTurned = Number(orientation) > 4;
    const [width, height] = isTurned ? [20, 40] : [40, 20];
    for (const [type, bytes] of [
      ["jpeg", await picture.clone().jpeg({ quality: 100, chromaSubsampling: "4:4:4" }).toBuffer()],
      ["png", await picture.clone().png().toBuffer()],
    ] as const) {
      const url = `data:image/${type};base64,${bytes.toString("base64")}`;
      const size = `width="${width}" height="${height}"`;
      for (const document of [`<image href="${url}"/>`, `<image href="${url}" ${size}/>`]) {
        const { pixel } = await draw(svg(size, document));
        const red = [
          ["left top", width / 4, height / 4],
          ["right top", (width * 3) / 4, height / 4],
          ["left bottom", width / 4, (height * 3) / 4],
          ["right bottom", (width * 3) / 4, (height * 3) / 4],
        ].filter(([, x, y]) => (pixel(Math.floor(Number(x)), Math.floor(Number(y)))[0] ?? 0) > 200);
        expect(
          red.map(([name]) => name),
          type,
        ).toEqual([corner]);
      }
      const kept = await draw(
        svg(size, `<image href="${url}" ${size} preserveAspectRatio="none" style="image-orientation:none"/>`),
      );
      expect(kept.pixel(2, 2)[0], type).toBeGreaterThan(200);
    }
  },
);
