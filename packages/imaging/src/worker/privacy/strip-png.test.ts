import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { beforeAll, expect, test } from "vitest";
import { pngChunk } from "../../../../../test/support/raster-files.ts";
import { type ByteOrder, EXIF_SECRET, exifBlock } from "../../../test/exif-blocks.ts";
import { cornered } from "../../../test/pictures.ts";
import { stripped } from "../../../test/stripped.ts";
import { stripPng } from "./strip-raster.ts";

const SECRET = "a secret";
/** The signature and IHDR. */
const HEAD_BYTES = 8 + 25;
const IEND_BYTES = 12;
let plain: Buffer;

beforeAll(async () => {
  const pixels = sharp(cornered(64, 48), { raw: { width: 64, height: 48, channels: 3 } });
  plain = await pixels.png().toBuffer();
});

const chunk = (type: string, data: Buffer | string) => pngChunk(type, Buffer.from(data as string, "latin1"));

function withChunks(...chunks: Buffer[]): Buffer {
  return Buffer.concat([plain.subarray(0, HEAD_BYTES), ...chunks, plain.subarray(HEAD_BYTES)]);
}

const strip = (bytes: Buffer) => stripped(bytes, stripPng);

const upright = (png: Buffer) => sharp(png, { autoOrient: true }).raw().toBuffer({ resolveWithObject: true });

test.each([
  ["EXIF", chunk("eXIf", exifBlock(1))],
  ["a text", chunk("tEXt", `Author\0${SECRET}`)],
  ["a compressed text", chunk("zTXt", Buffer.concat([Buffer.from("Comment\0\0"), deflateSync(SECRET)]))],
  ["XMP", chunk("iTXt", `XML:com.adobe.xmp\0\0\0\0\0<x:xmpmeta>${SECRET}</x:xmpmeta>`)],
  ["the time", chunk("tIME", "\x07\xe8\x01\x02\x03\x04\x05")],
  ["a private chunk", chunk("prVt", SECRET)],
])("stripPng removes only %s", (_, added) => {
  expect(strip(withChunks(added))).toEqual(plain);
  const atEnd = Buffer.concat([plain.subarray(0, -IEND_BYTES), added, plain.subarray(-IEND_BYTES)]);
  expect(strip(atEnd)).toEqual(plain);
});

test("stripPng keeps chunks for appearance and colour", () => {
  const types = "tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST pHYs sPLT".split(" ");
  for (const type of types) expect(stripPng(withChunks(chunk(type, "data"))), type).toBeNull();
});

test("stripPng keeps an animation and critical chunks", () => {
  const animated = withChunks(...["acTL", "fcTL", "fdAT", "PLTE", "NeWc"].map((type) => chunk(type, "data")));
  expect(stripPng(animated)).toBeNull();
});

test.each<ByteOrder>(["II", "MM"])(
  "stripPng reduces EXIF in byte order %s to its orientation",
  async (byteOrder) => {
    for (let orientation = 2; orientation <= 8; orientation++) {
      const original = withChunks(chunk("eXIf", exifBlock(orientation, byteOrder)), chunk("tEXt", SECRET));
      const stripped = strip(original);
      expect(stripped.includes(EXIF_SECRET)).toBe(false);
      expect(await sharp(stripped).metadata()).toMatchObject({ orientation });
      expect(await upright(stripped)).toEqual(await upright(original));
      expect(stripPng(stripped)).toBeNull();
    }
  },
);

test("stripPng keeps the colour profile byte for byte", async () => {
  const profiled = await sharp(plain)
    .withIccProfile("p3")
    .withExif({ IFD0: { Artist: SECRET } })
    .png()
    .toBuffer();
  expect(profiled.includes(SECRET)).toBe(true);
  const stripped = strip(profiled);
  expect(stripped.includes(SECRET)).toBe(false);
  const [before, after] = await Promise.all([profiled, stripped].map((png) => sharp(png).metadata()));
  expect(before?.icc?.length).toBeGreaterThan(100);
  expect(after?.icc).toEqual(before?.icc);
  expect(await upright(stripped)).toEqual(await upright(profiled));
});

test("stripPng removes everything after the end", () => {
  expect(strip(Buffer.concat([plain, Buffer.from(SECRET)]))).toEqual(plain);
});

test("stripPng removes metadata from a file truncated anywhere", () => {
  const whole = withChunks(chunk("tEXt", SECRET), chunk("eXIf", exifBlock(6)));
  for (let length = 8; length < whole.length; length++) {
    expect(strip(whole.subarray(0, length)).includes(SECRET.slice(0, 4)), `${length}`).toBe(false);
  }
});

test("stripPng refuses bytes that are not a PNG", () => {
  expect(() => stripPng(Buffer.from("\x89PNX\r\n\x1a\n", "latin1"))).toThrow(
    expect.objectContaining({ code: "unsupported_media" }),
  );
});
