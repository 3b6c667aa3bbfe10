import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { CORNERS, cornered, cornersOf, distance } from "../../../test/pictures.ts";
import { openPdf } from "./open-pdf.ts";
import { pdfOfJpeg, pdfOfPixels } from "./write-pdf.ts";

const limits = { maxPixels: 1_000_000 };

/** The page at two pixels per point. */
async function drawn(bytes: Buffer) {
  const { natural, pages, decode } = await openPdf(bytes, limits);
  return { size: [natural.width, natural.height], pages, pixels: await (await decode()).raw().toBuffer() };
}

describe("pdfOfJpeg", () => {
  const colours = sharp(cornered(64, 48), { raw: { width: 64, height: 48, channels: 3 } });

  test("embeds the JPEG unchanged and fills the page", async () => {
    const jpeg = await colours.clone().jpeg({ quality: 95 }).toBuffer();
    const bytes = pdfOfJpeg(jpeg, { width: 64, height: 48, components: 3 }, { width: 32, height: 24 });
    expect(bytes.includes(jpeg)).toBe(true);
    const { size, pages, pixels } = await drawn(bytes);
    expect({ size, pages }).toEqual({ size: [64, 48], pages: 1 });
    const png = await sharp(pixels, { raw: { width: 64, height: 48, channels: 3 } })
      .png()
      .toBuffer();
    expect(distance(await cornersOf(png), CORNERS)).toBeLessThan(6);
  });

  test("accepts grey and progressive JPEGs", async () => {
    const grey = colours.clone().toColourspace("b-w");
    const jpeg = await grey.jpeg({ quality: 95, progressive: true }).toBuffer();
    const { pixels } = await drawn(
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
    const found = await drawn(await pdfOfPixels(pixels, { width, height, channels: 3 }, page));
    expect(found.size).toEqual([width, height]);
    expect(found.pixels.equals(pixels)).toBe(true);
  });

  test("shows the paper through transparent pixels", async () => {
    const size = { width: 16, height: 16 };
    const pixels = gradient(16, 16, 4);
    const bytes = await pdfOfPixels(pixels, { ...size, channels: 4 }, { width: 8, height: 8 });
    expect(bytes.toString("latin1")).toContain("/SMask");
    const { pixels: found } = await drawn(bytes);
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

test("a written PDF page can have any size, including fractions of a point", async () => {
  const pixels = cornered(8, 8);
  const box = async (width: number, height: number) => {
    const bytes = await pdfOfPixels(pixels, { width: 8, height: 8, channels: 3 }, { width, height });
    return /MediaBox\[([^\]]*)\]/.exec(bytes.toString("latin1"))?.[1];
  };
  expect(await box(595.2756, 841.8898)).toBe("0 0 595.276 841.89");
  expect(await box(1e4, 0.5)).toBe("0 0 10000 0.5");
});
