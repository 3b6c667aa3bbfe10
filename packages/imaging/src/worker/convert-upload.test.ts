import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConvertibleType } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  deepHeic,
  halvesHeic,
  transparentHeic,
  twoPicturesHeic,
} from "../../../../test/support/heic-samples.ts";
import { animation, photo, type Rgb } from "../../test/pictures.ts";
import { createTiff, Photometric } from "./psd/tiff.ts";

const renderer = createRenderer({ workers: 1, maxPixels: 1_000_000, timeoutMs: 60_000 });
let directory: string;
let picture: Buffer;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-convert-"));
  picture = await photo(90, 60);
});
afterAll(async () => {
  await renderer.close();
  await rm(directory, { recursive: true });
});

/** Admits an upload. @returns what is found, and the stored bytes. */
async function convert(bytes: Buffer, type: ConvertibleType) {
  const cleanedPath = join(directory, crypto.randomUUID());
  const { cleaned, ...info } = await renderer.admit({ bytes }, type, { cleanedPath });
  if (cleaned === null) throw new Error("Nothing was converted");
  const stored = await readFile(cleanedPath);
  expect(stored).toHaveLength(cleaned.size);
  return { ...info, stored };
}

async function pixelAt(stored: Buffer, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(stored).raw().toBuffer({ resolveWithObject: true });
  return [...data.subarray((y * info.width + x) * info.channels, (y * info.width + x + 1) * info.channels)];
}

function expectNear(actual: readonly number[], expected: readonly number[], by = 6): void {
  const differences = expected.map((value, index) => Math.abs(value - (actual[index] ?? Number.NaN)));
  expect(Math.max(...differences), `${actual} is not near ${expected}`).toBeLessThanOrEqual(by);
}

test("an opaque photo becomes a JPEG of full colour, a lossless or transparent picture a PNG", async () => {
  const glass = {
    create: { width: 90, height: 60, channels: 4, background: { r: 9, g: 99, b: 200, alpha: 0.5 } },
  } as const;
  for (const [title, bytes, source, type] of [
    ["WebP", await sharp(picture).webp().toBuffer(), "image/webp", "image/jpeg"],
    ["lossless WebP", await sharp(picture).webp({ lossless: true }).toBuffer(), "image/webp", "image/png"],
    ["transparent WebP", await sharp(glass).webp().toBuffer(), "image/webp", "image/png"],
    ["AVIF", await sharp(picture).avif().toBuffer(), "image/avif", "image/jpeg"],
    ["transparent AVIF", await sharp(glass).avif().toBuffer(), "image/avif", "image/png"],
    ["TIFF", await sharp(picture).tiff({ compression: "lzw" }).toBuffer(), "image/tiff", "image/png"],
    ["CMYK TIFF", await sharp(picture).toColourspace("cmyk").tiff().toBuffer(), "image/tiff", "image/png"],
  ] as const) {
    const { stored, ...info } = await convert(bytes, source);
    expect(info, title).toMatchObject({ type, width: 90, height: 60, pages: 1 });
    expect(info, title).not.toHaveProperty("warnings");
    const { format, chromaSubsampling, hasAlpha, space } = await sharp(stored).metadata();
    expect([`image/${format}`, space], title).toEqual([type, "srgb"]);
    if (type === "image/jpeg") expect(chromaSubsampling, title).toBe("4:4:4");
    expect(hasAlpha, title).toBe(title.startsWith("transparent"));
  }
});

test("a lossless picture keeps its pixels", async () => {
  const pixels = await sharp(picture).removeAlpha().raw().toBuffer();
  for (const [bytes, type] of [
    [await sharp(picture).webp({ lossless: true }).toBuffer(), "image/webp"],
    [await sharp(picture).tiff({ compression: "lzw" }).toBuffer(), "image/tiff"],
  ] as const) {
    const { stored } = await convert(bytes, type);
    expect((await sharp(stored).raw().toBuffer()).equals(pixels), type).toBe(true);
  }
});

test("an animation becomes a GIF with its times, and a warning about its colours", async () => {
  const colours: Rgb[] = [
    [250, 0, 0],
    [0, 250, 0],
    [0, 0, 250],
  ];
  const gif = await animation(20, 10, colours, { delay: [70, 140, 210], loop: 3 });
  const webp = await sharp(gif, { animated: true }).webp({ lossless: true }).toBuffer();
  const { stored, ...info } = await convert(webp, "image/webp");
  expect(info).toMatchObject({
    type: "image/gif",
    pages: 3,
    width: 20,
    height: 10,
    warnings: ["colors_reduced"],
  });
  const { delay, loop } = await sharp(stored, { animated: true }).metadata();
  expect({ delay, loop }).toEqual({ delay: [70, 140, 210], loop: 3 });
});

test("of a document the first page is kept, and of deep channels 8 bits, with a warning", async () => {
  const layout = {
    width: 4,
    height: 4,
    photometric: Photometric.rgb,
    samplesPerPixel: 3,
    planar: false,
  } as const;
  const deep = createTiff({ ...layout, bitsPerSample: 16, alpha: false, iccProfile: null });
  deep.pixels.fill(0x80);
  const { stored, ...info } = await convert(deep.file, "image/tiff");
  expect(info).toMatchObject({ type: "image/png", warnings: ["depth_reduced"] });
  expect((await sharp(stored).metadata()).depth).toBe("uchar");
  const pages = await sharp([picture, picture], { join: { animated: true } })
    .tiff()
    .toBuffer();
  expect(await convert(pages, "image/tiff")).toMatchObject({ height: 60, warnings: ["first_page_only"] });
});

test("a HEIC photo is converted with its profile, and a transparent one to PNG", async () => {
  const { stored, ...info } = await convert(halvesHeic, "image/heic");
  expect(info).toMatchObject({ type: "image/jpeg", width: 64, height: 48, pages: 1 });
  expectNear(await pixelAt(stored, 30, 10), [255, 32, 16]);
  expectNear(await pixelAt(stored, 30, 40), [16, 32, 255]);
  const transparent = await convert(transparentHeic, "image/heic");
  expect(transparent).toMatchObject({ type: "image/png", alpha: true });
  expectNear(await pixelAt(transparent.stored, 30, 20), [0, 128, 0, 128]);
});

test("a HEIC photo of deep channels or with several pictures has a warning", async () => {
  const deep = await convert(deepHeic, "image/heic");
  expect(deep).toMatchObject({ type: "image/jpeg", width: 96, height: 64, warnings: ["depth_reduced"] });
  expectNear(await pixelAt(deep.stored, 48, 32), [210, 34, 34]);
  const several = await convert(twoPicturesHeic, "image/heic");
  expect(several).toMatchObject({ width: 96, height: 64, warnings: ["first_page_only"] });
  expectNear(await pixelAt(several.stored, 48, 32), [221, 34, 34]);
});

test("orientation and profile are applied, and metadata is gone", async () => {
  const blue = await sharp({ create: { width: 45, height: 60, channels: 3, background: "#1020ff" } })
    .png()
    .toBuffer();
  const halves = sharp({ create: { width: 90, height: 60, channels: 3, background: "#ff2010" } })
    .composite([{ input: blue, left: 45, top: 0 }])
    .withIccProfile("p3")
    .withExif({ IFD0: { Make: "SECRETMAKE" } })
    .withMetadata({ orientation: 6 });
  for (const [bytes, type] of [
    [await halves.clone().webp({ quality: 100 }).toBuffer(), "image/webp"],
    [await halves.clone().tiff({ compression: "lzw" }).toBuffer(), "image/tiff"],
  ] as const) {
    expect(await sharp(bytes).metadata(), type).toMatchObject({ icc: expect.anything(), orientation: 6 });
    const { stored, ...info } = await convert(bytes, type);
    expect(info, type).toMatchObject({ width: 60, height: 90 });
    const { icc, exif, orientation } = await sharp(stored).metadata();
    expect({ icc, exif, orientation }, type).toEqual({
      icc: undefined,
      exif: undefined,
      orientation: undefined,
    });
    expect(stored.includes("SECRETMAKE"), type).toBe(false);
    expectNear(await pixelAt(stored, 30, 20), [255, 32, 16]);
    expectNear(await pixelAt(stored, 30, 70), [16, 32, 255]);
  }
});

test("damaged and oversized uploads are refused with a reason", async () => {
  const large = sharp({ create: { width: 1001, height: 1000, channels: 3, background: "#777" } });
  const webp = await sharp(picture).webp().toBuffer();
  for (const [title, bytes, type, reason] of [
    ["cut WebP", webp.subarray(0, webp.length >> 1), "image/webp", null],
    ["cut HEIC", halvesHeic.subarray(0, 700), "image/heic", null],
    ["a PNG", picture, "image/webp", "its bytes are of another format"],
    ["large WebP", await large.clone().webp().toBuffer(), "image/webp", "it has more than 1 megapixels"],
    [
      "large AVIF",
      await large.clone().avif({ effort: 0 }).toBuffer(),
      "image/avif",
      "it has more than 1 megapixels",
    ],
    ["large TIFF", await large.clone().tiff().toBuffer(), "image/tiff", "it has more than 1 megapixels"],
  ] as const) {
    const message =
      reason === null ? "The file is damaged or incomplete." : `This cannot be read as ${type}: ${reason}.`;
    await expect(convert(bytes, type), title).rejects.toMatchObject({ code: "unsupported_media", message });
  }
  // The loader of another type stays closed to originals.
  const refused = renderer.admit({ bytes: webp }, "image/png", { cleanedPath: join(directory, "refused") });
  await expect(refused).rejects.toMatchObject({ code: "unsupported_media" });
});
