import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OriginalType } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import type { Browser, Page } from "playwright-core";
import sharp, { type JpegOptions } from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { jpegPhoto, pngPhoto } from "../support/pictures.ts";
import {
  animatedPng,
  type DrawnFrame,
  gammaChunk,
  gifOf,
  P3_CHUNK,
  PngType,
  pngChunk,
  pngOf,
} from "../support/raster-files.ts";

/** Mean difference of the channels from Chromium's picture, as a share of white. */
const MAX_DIFFERENCE = 0.02;

const renderer = createRenderer();
let browser: Browser;
let page: Page;
let directory: string;
let uploads = 0;

beforeAll(async () => {
  browser = await launchChromium();
  page = await browser.newPage();
  directory = await mkdtemp(join(tmpdir(), "fidelity-"));
});
afterAll(async () => {
  await browser.close();
  await renderer.close();
  await rm(directory, { recursive: true });
});

interface Drawn {
  width: number;
  height: number;
  rgba: Buffer;
}

/** The picture as Chromium draws it, RGBA. */
async function drawnByChromium(bytes: Buffer, type: OriginalType): Promise<Drawn> {
  const drawn = await page.evaluate(
    async (url) => {
      const image = new Image();
      image.src = url;
      // Rejects for a picture that is not whole, which is drawn all the same.
      await image.decode().catch(() => undefined);
      const canvas = document.createElement("canvas");
      const [width, height] = [image.naturalWidth, image.naturalHeight];
      [canvas.width, canvas.height] = [width, height];
      const context = canvas.getContext("2d", { willReadFrequently: true });
      context?.drawImage(image, 0, 0);
      const bytes = context?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
      const pieces = [];
      for (let at = 0; at < bytes.length; at += 8192) {
        pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
      }
      return { width, height, rgba: btoa(pieces.join("")) };
    },
    `data:${type};base64,${bytes.toString("base64")}`,
  );
  return { ...drawn, rgba: Buffer.from(drawn.rgba, "base64") };
}

/** The picture as a PNG rendition of the stored upload shows it. */
async function drawnByUs(bytes: Buffer, type: OriginalType): Promise<Drawn> {
  const cleanedPath = join(directory, `${uploads++}`);
  const { cleaned } = await renderer.admit({ bytes }, type, { cleanedPath });
  const stored = cleaned === null ? bytes : await readFile(cleanedPath);
  const rendition = await renderer.render({ bytes: stored }, type, { format: "png" });
  return rgbaOf(rendition.bytes);
}

async function rgbaOf(png: Buffer): Promise<Drawn> {
  const { data, info } = await sharp(png)
    .ensureAlpha()
    .toColourspace("srgb")
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, rgba: data };
}

/** The mean difference on white or on black, whichever is larger. `skips` leaves out pixels by Chromium's alpha. */
function differenceOf(some: Drawn, other: Drawn, skips: (alpha: number) => boolean): number {
  const means = [0, 255].map((ground) => {
    let [sum, count] = [0, 0];
    for (let at = 0; at < some.rgba.length; at += 4) {
      const [alpha, otherAlpha] = [some.rgba[at + 3] ?? 0, other.rgba[at + 3] ?? 0];
      if (skips(alpha)) continue;
      for (let channel = 0; channel < 3; channel++) {
        const shown = ground + (((some.rgba[at + channel] ?? 0) - ground) * alpha) / 255;
        const otherShown = ground + (((other.rgba[at + channel] ?? 0) - ground) * otherAlpha) / 255;
        sum += Math.abs(shown - otherShown);
        count++;
      }
    }
    return sum / count / 255;
  });
  return Math.max(...means);
}

async function expectAsChromium(
  bytes: Buffer,
  type: OriginalType,
  skips: (alpha: number) => boolean = () => false,
): Promise<void> {
  const [theirs, ours] = [await drawnByChromium(bytes, type), await drawnByUs(bytes, type)];
  expect(theirs.width).toBeGreaterThan(0);
  expect([ours.width, ours.height]).toEqual([theirs.width, theirs.height]);
  expect(differenceOf(theirs, ours, skips)).toBeLessThan(MAX_DIFFERENCE);
}

const whole: DrawnFrame = { width: 20, height: 20, pixels: 0 };
const inset: DrawnFrame = { left: 5, top: 5, width: 10, height: 10, pixels: 2 };

describe("a GIF is drawn as Chromium draws it", () => {
  const gif = gifOf(20, 20, [whole]);
  test.each<[string, Buffer]>([
    ["with a frame that covers a part of its canvas", gifOf(20, 20, [inset])],
    ["with such a frame and a transparent colour", gifOf(20, 20, [{ ...inset, transparent: 3 }])],
    ["with a frame beyond its canvas", gifOf(20, 20, [{ ...whole, left: 10, top: 10 }])],
    ["with fewer pixels than its frame has", gifOf(20, 20, [{ ...whole, pixels: Array(200).fill(2) }])],
    ["with a first frame of no size", gifOf(20, 20, [{ ...whole, width: 0, height: 0, pixels: [] }, whole])],
    ["with a canvas of no size", gifOf(0, 0, [whole])],
    ["without a trailer", gif.subarray(0, -1)],
    ["without the end of its last frame", gif.subarray(0, -2)],
    ["with other bytes after its frame", Buffer.concat([gif.subarray(0, -1), Buffer.from("and more")])],
  ])("%s", (_, bytes) => expectAsChromium(bytes, "image/gif"));
});

describe("a PNG is drawn as Chromium draws it", () => {
  const linear = gammaChunk(100_000);
  test.each<[string, Buffer]>([
    ...Object.entries(PngType).map(([name, type]): [string, Buffer] => [
      `of type ${name} with gAMA`,
      pngOf({ type, chunks: [linear] }),
    ]),
    ["with gAMA and 16 bits", pngOf({ depth: 16, chunks: [linear] })],
    ["with gAMA and 16 bits of grey", pngOf({ type: PngType.grey, depth: 16, chunks: [linear] })],
    ...[22_000, 35_000, 44_000, 45_455, 47_000, 55_555, 250_000].map((gamma): [string, Buffer] => [
      `with a gAMA of ${gamma}`,
      pngOf({ chunks: [gammaChunk(gamma)] }),
    ]),
    ["with cHRM alone", pngOf({ chunks: [P3_CHUNK] })],
    ["with gAMA and cHRM", pngOf({ chunks: [gammaChunk(45_455), P3_CHUNK] })],
    ["with gAMA and cHRM, grey", pngOf({ type: PngType.grey, chunks: [linear, P3_CHUNK] })],
    ["with gAMA and sRGB", pngOf({ chunks: [linear, pngChunk("sRGB", Buffer.of(0))] })],
    ["with two gAMA", pngOf({ chunks: [linear, gammaChunk(45_455)] })],
    ["with gAMA that is too long", pngOf({ chunks: [pngChunk("gAMA", Buffer.of(0, 1, 0x86, 0xa0, 0))] })],
    ["without IEND", pngOf().subarray(0, -12)],
    [
      "without the checksum of its pixels",
      pngOf({ data: (data) => [pngChunk("IDAT", data.subarray(0, -4))] }),
    ],
    ["with a wrong checksum of a chunk", pngOf({ data: (data) => [spoilt(pngChunk("IDAT", data))] })],
    ["with a wrong checksum of a text", pngOf({ chunks: [spoilt(pngChunk("tEXt", Buffer.from("a\0b")))] })],
    ["with a profile that is none", pngOf({ chunks: [pngChunk("iCCP", Buffer.from("x\0\0none"))] })],
    ["with sBIT that is too long", pngOf({ chunks: [pngChunk("sBIT", Buffer.of(9, 9, 9, 9))] })],
    ["with bytes after its end", Buffer.concat([pngOf(), Buffer.alloc(40, "x")])],
    ["with an animation", animatedPng(48)],
  ])("%s", (_, bytes) => expectAsChromium(bytes, "image/png"));

  test.each([false, true])("cut in its last rows, interlaced: %s", async (progressive) => {
    const png = await sharp(await pngPhoto(200, 150))
      .png({ progressive })
      .toBuffer();
    await expectAsChromium(png.subarray(0, png.length * 0.97), "image/png", (alpha) => alpha === 0);
  });
});

describe("a JPEG is drawn as Chromium draws it", () => {
  /** Chromium leaves rows without data transparent, and the last ones before them too. */
  const isMissing = (alpha: number) => alpha === 0;

  test.each<[string, JpegOptions]>([
    ["4:2:0", {}],
    ["4:4:4", { chromaSubsampling: "4:4:4" }],
    ["progressive", { progressive: true }],
    ["progressive by mozjpeg", { mozjpeg: true }],
  ])("without its end or with odd bytes: %s", async (_, options) => {
    const jpeg = await sharp(await jpegPhoto(320, 480))
      .jpeg(options)
      .toBuffer();
    const scan = jpeg.indexOf(Buffer.of(0xff, 0xda));
    const odd = Buffer.concat([jpeg.subarray(0, scan), Buffer.alloc(5, 3), jpeg.subarray(scan)]);
    for (const bytes of [jpeg, jpeg.subarray(0, -2), jpeg.subarray(0, jpeg.length - 20), odd]) {
      await expectAsChromium(bytes, "image/jpeg", isMissing);
    }
  });

  test("with start-of-scan parameters of zero", async () => {
    const jpeg = await jpegPhoto(320, 240);
    const scan = jpeg.indexOf(Buffer.of(0xff, 0xda)) + 2;
    const end = scan + jpeg.readUInt16BE(scan);
    jpeg.fill(0, end - 3, end);
    await expectAsChromium(jpeg, "image/jpeg");
  });
});

/** `bytes` with a wrong last byte. */
function spoilt(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(copy.length - 1) ^ 0xff, copy.length - 1);
  return copy;
}
