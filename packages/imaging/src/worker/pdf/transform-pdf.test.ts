import sharp from "sharp";
import { describe, expect, test } from "vitest";
import {
  encryptedPdf,
  firstObjectOf,
  restrictedPdf,
  type SampleObject,
  samplePdf,
} from "../../../../../test/support/pdf-samples.ts";
import { CORNERS, cornered, cornersOf, distance } from "../../../test/pictures.ts";
import { openPdf } from "./open-pdf.ts";
import { transformPdf } from "./transform-pdf.ts";
import { pdfOfJpeg, pdfOfPixels } from "./write-pdf.ts";

const limits = { maxPixels: 25_000_000 };

/** The page at `density` times two pixels per point. */
async function drawn(bytes: Buffer, page = 1, density = 1) {
  const { natural, pages, decode } = await openPdf(bytes, { ...limits, page });
  const drawnAs = { width: natural.width * density, height: natural.height * density };
  const image = await decode({ drawnAs });
  return { pages, ...drawnAs, pixels: await image.raw().toBuffer() };
}

/** Whether the pages look the same when drawn large, so that rounding at edges does not count. */
async function expectSamePage(scaled: Buffer, original: Buffer, scale: number, page = 1): Promise<void> {
  const [one, other] = await Promise.all([drawn(scaled, page, 6 / scale), drawn(original, page, 6)]);
  expectSamePixels(one, other);
}

type Drawn = Awaited<ReturnType<typeof drawn>>;

/** One byte in a thousand may differ: edges that are rounded differently. */
function expectSamePixels(one: Drawn, other: Drawn): void {
  expect([one.width, one.height]).toEqual([other.width, other.height]);
  let different = 0;
  for (const [index, value] of one.pixels.entries()) {
    if (Math.abs(value - (other.pixels[index] ?? 0)) > 2) different++;
  }
  expect(different).toBeLessThanOrEqual(one.pixels.length / 1000);
}

const FIRST = firstObjectOf(4);
/** Pages of every kind that share their resources: a font, a tiling pattern, a form that uses the pattern too. */
const resources = `/Pattern<</P ${FIRST} 0 R>>/XObject<</F ${FIRST + 1} 0 R>>/Font<</T<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>`;
const content =
  "/Pattern cs /P scn 4 4 20 20 re f 1 0 0 rg 30 4 10 10 re f BT /T 10 Tf 4 28 Td (Text) Tj ET q 1 0 0 1 36 16 cm /F Do Q";
const objects: SampleObject[] = [
  {
    dictionary:
      "/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 5 5]/XStep 5/YStep 5/Resources<<>>",
    data: "0 0 1 rg 0 0 2 2 re f",
  },
  {
    dictionary: `/Type/XObject/Subtype/Form/BBox[0 0 16 16]/Resources<</Pattern<</P ${FIRST} 0 R>>>>`,
    data: "/Pattern cs /P scn 0 0 16 16 re f",
  },
  { dictionary: "/Type/XObject/Subtype/Form/BBox[0 0 20 10]", data: "0 .6 0 rg 0 0 20 10 re f" },
  `<</Type/Annot/Subtype/Stamp/Rect[10 10 30 20]/AP<</N ${FIRST + 2} 0 R>>>>`,
  "<</Type/Annot/Subtype/Circle/Rect[32 20 52 36]/C[.8 0 .8]/IC[1 1 0]>>",
  "<</Type/Annot/Subtype/Link/Rect[0 0 8 8]/Border[0 0 0]/A<</S/URI/URI(https://example.org/)>>>>",
  `<</Type/Annot/Subtype/Widget/FT/Tx/T(field)/V(Value)/DA(/T 8 Tf 0 0 1 rg)/Rect[4 22 40 36]/MK<</BG[.9 1 .9]>>>>`,
];
const various = samplePdf(
  [
    { content, resources },
    { content, resources, entries: "/Rotate 90/CropBox[10 5 50 35]" },
    { content, resources, entries: "/MediaBox[-20 -10 60 40]/Rotate 270" },
    {
      content,
      resources,
      entries: `/Annots[${[3, 4, 5, 6].map((offset) => `${FIRST + offset} 0 R`).join(" ")}]`,
    },
  ],
  objects,
  {
    catalogue: `/AcroForm<</Fields[${FIRST + 6} 0 R]/DR<</Font<</T<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>`,
  },
);

describe("transformPdf scales all pages", () => {
  test.each([0.5, 3])("by %d, including rotated pages and shared resources", async (scale) => {
    const scaled = await transformPdf(various, { scale });
    for (const page of [1, 2, 3, 4]) await expectSamePage(scaled, various, scale, page);
    expect((await drawn(scaled)).pages).toBe(4);
  });

  test("when a page occurs twice", async () => {
    const twice = Buffer.from(
      various.toString("latin1").replace("/Kids[3 0 R 5 0 R", "/Kids[5 0 R 5 0 R"),
      "latin1",
    );
    const scaled = await transformPdf(twice, { scale: 2 });
    for (const page of [1, 2, 3]) await expectSamePage(scaled, twice, 2, page);
  });

  test("without copying shared resources for each page", async () => {
    const noise = Buffer.alloc(50_000);
    for (let index = 0; index < noise.length; index++) noise[index] = (index * index * 7919) >> 8;
    const image = `/Subtype/Image/Width 100/Height 100/ColorSpace/DeviceRGB/BitsPerComponent 8/Length1 1`;
    const first = firstObjectOf(10);
    const pages = Array.from({ length: 10 }, () => ({
      content: "60 0 0 40 0 0 cm /I Do",
      resources: `/XObject<</I ${first} 0 R>>`,
    }));
    const bytes = samplePdf(pages, [{ dictionary: `/Type/XObject${image}`, data: noise }]);
    const scaled = await transformPdf(bytes, { scale: 0.5 });
    expect(scaled.length).toBeLessThan(2 * bytes.length);
    await expectSamePage(scaled, bytes, 0.5, 10);
  });
});

describe("transformPdf extracts one page", () => {
  test("unchanged", async () => {
    const single = await transformPdf(various, { page: 2 });
    const [one, other] = await Promise.all([drawn(single), drawn(various, 2)]);
    expect(one).toEqual({ ...other, pages: 1 });
    expect(single.length).toBeLessThan(various.length);
  });

  test("scaled", async () => {
    const single = await transformPdf(various, { page: 3, scale: 0.5 });
    const { width, height, pages } = await drawn(single);
    expect({ width, height, pages }).toEqual({ width: 50, height: 80, pages: 1 });
  });

  test("with the contents of its form fields", async () => {
    const single = await transformPdf(various, { page: 4 });
    expectSamePixels(await drawn(single, 1, 6), await drawn(various, 4, 6));
  });

  test("with its links, and without the pages that they refer to", async () => {
    const first = firstObjectOf(2);
    const bytes = samplePdf(
      [{ entries: `/Annots[${first} 0 R ${first + 1} 0 R]` }, { content: `% ${"x".repeat(10_000)}` }],
      [
        "<</Type/Annot/Subtype/Link/Rect[0 0 8 8]/A<</S/URI/URI(https://example.org/)>>>>",
        "<</Type/Annot/Subtype/Link/Rect[8 8 16 16]/Dest[5 0 R/Fit]>>",
      ],
    );
    const single = await transformPdf(bytes, { page: 1 });
    expect(single.toString("latin1")).toContain("https://example.org/");
    expect(single.length).toBeLessThan(2000);
  });

  test("and rejects for a page that does not exist", async () => {
    await expect(transformPdf(various, { page: 5 })).rejects.toMatchObject({
      code: "bad_request",
      message: "page must be at most 4.",
    });
  });
});

test("transformPdf without changes returns the same bytes", async () => {
  expect(await transformPdf(various, {})).toBe(various);
  expect(await transformPdf(various, { scale: 1 })).toBe(various);
  expect(await transformPdf(restrictedPdf, { page: 1 })).toBe(restrictedPdf);
});

test("transformPdf scales a file with an owner password, and refuses one that needs a password to open", async () => {
  await expectSamePage(await transformPdf(restrictedPdf, { scale: 2 }), restrictedPdf, 2);
  await expect(transformPdf(encryptedPdf, { scale: 2 })).rejects.toThrow("it is protected by a password");
});

/** The page at two pixels per point. */
async function drawnPage(bytes: Buffer) {
  const { natural, pages, decode } = await openPdf(bytes, limits);
  return { size: [natural.width, natural.height], pages, pixels: await (await decode()).raw().toBuffer() };
}

describe("pdfOfJpeg", () => {
  const colours = sharp(cornered(64, 48), { raw: { width: 64, height: 48, channels: 3 } });

  test("embeds the JPEG unchanged and fills the page", async () => {
    const jpeg = await colours.clone().jpeg({ quality: 95 }).toBuffer();
    const bytes = pdfOfJpeg(jpeg, { width: 64, height: 48, components: 3 }, { width: 32, height: 24 });
    expect(bytes.includes(jpeg)).toBe(true);
    const { size, pages, pixels } = await drawnPage(bytes);
    expect({ size, pages }).toEqual({ size: [64, 48], pages: 1 });
    const png = await sharp(pixels, { raw: { width: 64, height: 48, channels: 3 } })
      .png()
      .toBuffer();
    expect(distance(await cornersOf(png), CORNERS)).toBeLessThan(6);
  });

  test("accepts grey and progressive JPEGs", async () => {
    const grey = colours.clone().toColourspace("b-w");
    const jpeg = await grey.jpeg({ quality: 95, progressive: true }).toBuffer();
    const { pixels } = await drawnPage(
      pdfOfJpeg(jpeg, { width: 64, height: 48, components: 1 }, { width: 32, height: 24 }),
    );
    const expected = await sharp(jpeg).toColourspace("srgb").raw().toBuffer();
    // In the middle of each quarter.
    for (const place of [12 * 64 + 16, 12 * 64 + 48, 36 * 64 + 16, 36 * 64 + 48]) {
      const [red, green, blue] = pixels.subarray(place * 3);
      expect([red, green]).toEqual([green, blue]);
      expect(Math.abs((red ?? -99) - (expected[place * 3] ?? 0))).toBeLessThan(6);
    }
  });
});

test("a written PDF page can have any size, including fractions of a point", async () => {
  const pixels = cornered(8, 8);
  const box = async (width: number, height: number) => {
    const bytes = await pdfOfPixels(pixels, { width: 8, height: 8, channels: 3 }, { width, height });
    return /MediaBox\[([^\]]*)\]/.exec(bytes.toString("latin1"))?.[1];
  };
  expect(await box(595.2756, 841.8898)).toBe("0 0 595.276 841.89");
  expect(await box(1e4, 0.5)).toBe("0 0 10000 0.5");
});

describe("pdfOfPixels", () => {
  /** Every byte differs, so that shifted or swapped pixels are detected. */
  function gradient(width: number, height: number, channels: 3 | 4): Buffer {
    const pixels = Buffer.alloc(width * height * channels);
    for (let index = 0; index < pixels.length; index++) pixels[index] = (index * 31 + (index >> 5)) % 256;
    return pixels;
  }

  test.each([
    [1, 1],
    [1, 40],
    [33, 7],
    [300, 200],
  ])("keeps %i by %i pixels exactly", async (width, height) => {
    const pixels = gradient(width, height, 3);
    const page = { width: width / 2, height: height / 2 };
    const found = await drawnPage(await pdfOfPixels(pixels, { width, height, channels: 3 }, page));
    expect(found.size).toEqual([width, height]);
    expect(found.pixels.equals(pixels)).toBe(true);
  });

  test("shows the paper through transparent pixels", async () => {
    const size = { width: 16, height: 16 };
    const pixels = gradient(16, 16, 4);
    const bytes = await pdfOfPixels(pixels, { ...size, channels: 4 }, { width: 8, height: 8 });
    expect(bytes.toString("latin1")).toContain("/SMask");
    const { pixels: found } = await drawnPage(bytes);
    const onWhite = sharp(pixels, { raw: { ...size, channels: 4 } }).flatten({ background: "#ffffff" });
    for (const [index, value] of (await onWhite.raw().toBuffer()).entries()) {
      expect(Math.abs(value - (found[index] ?? -99))).toBeLessThanOrEqual(2);
    }
  });

  test("writes no mask for opaque pixels", async () => {
    const three = gradient(8, 8, 3);
    const four = await sharp(three, { raw: { width: 8, height: 8, channels: 3 } })
      .ensureAlpha()
      .raw()
      .toBuffer();
    const page = { width: 4, height: 4 };
    const bytes = await pdfOfPixels(four, { width: 8, height: 8, channels: 4 }, page);
    expect(bytes).toEqual(await pdfOfPixels(three, { width: 8, height: 8, channels: 3 }, page));
    expect(bytes.toString("latin1")).not.toContain("/SMask");
  });
});
