import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { beforeAll, expect, test } from "vitest";
import { pngChunk } from "../../../../../test/support/raster-files.ts";
import { type ByteOrder, EXIF_SECRET, exifBlock } from "../../../test/exif-blocks.ts";
import { sparseGif } from "../../../test/hostile-gifs.ts";
import { animation, CORNERS, cornered } from "../../../test/pictures.ts";
import { stripped } from "../../../test/stripped.ts";
import { stripGif, stripPng, stripRaster, stripWebp } from "./strip-raster.ts";

const SECRET = "a secret";
const TRAILER = Buffer.of(0x3b);
let animated: Buffer;

beforeAll(async () => {
  animated = await animation(16, 12, CORNERS, { delay: [50, 60, 70, 80], loop: 3 });
});

function extension(label: number, ...blocks: (Buffer | string)[]): Buffer {
  const subBlocks = blocks.flatMap((block) => [
    Buffer.of(block.length),
    Buffer.from(block as string, "latin1"),
  ]);
  return Buffer.concat([Buffer.of(0x21, label), ...subBlocks, Buffer.of(0)]);
}

function application(identifier: string, ...blocks: (Buffer | string)[]): Buffer {
  return extension(0xff, identifier, ...blocks);
}

/** An XMP block: raw XMP, then a ramp of bytes that leads readers of sub-blocks to its end. */
function xmp(text: string): Buffer {
  const ramp = Buffer.from(Array.from({ length: 256 }, (_, index) => 255 - index));
  return Buffer.concat([Buffer.from(`\x21\xff\x0bXMP DataXMP${text}\x01`, "latin1"), ramp, Buffer.of(0)]);
}

/** The GIF with additional blocks before its trailer. */
function withBlocks(gif: Buffer, ...blocks: Buffer[]): Buffer {
  return Buffer.concat([gif.subarray(0, -1), ...blocks, TRAILER]);
}

const strip = (bytes: Buffer) => stripped(bytes, stripGif);

test.each([
  ["a comment", extension(0xfe, SECRET)],
  ["a long comment", extension(0xfe, SECRET.repeat(30), SECRET)],
  ["XMP", xmp(`<x:xmpmeta>${SECRET}</x:xmpmeta>`)],
  ["another application's data", application("MYPROGRAM00", SECRET)],
  ["an application without a name of its own", extension(0xff, SECRET)],
  ["an unknown extension", extension(0x77, SECRET)],
])("stripGif removes only %s", (_, added) => {
  expect(strip(withBlocks(animated, added))).toEqual(animated);
});

test("stripGif removes comments between frames and keeps the timing of each frame", async () => {
  const first = animated.indexOf(Buffer.of(0x21, 0xf9));
  const second = animated.indexOf(Buffer.of(0x21, 0xf9), first + 1);
  const comment = extension(0xfe, SECRET);
  const commented = Buffer.concat([animated.subarray(0, second), comment, animated.subarray(second)]);
  const stripped = strip(commented);
  expect(stripped).toEqual(animated);
  expect(await sharp(stripped, { animated: true }).metadata()).toMatchObject({
    pages: 4,
    delay: [50, 60, 70, 80],
    loop: 3,
  });
});

test.each([
  ["repetition", application("NETSCAPE2.0", "\x01\x05\0")],
  ["repetition of another program", application("ANIMEXTS1.0", "\x01\x05\0")],
  ["a colour profile", application("ICCRGBG1012", "profile")],
  ["text that is drawn", extension(0x01, "\0".repeat(12), "drawn")],
])("stripGif keeps %s", (_, added) => {
  expect(stripGif(withBlocks(animated, added))).toBeNull();
});

test("stripGif removes everything after the trailer", () => {
  expect(strip(Buffer.concat([animated, Buffer.from(SECRET)]))).toEqual(animated);
});

test("stripGif ends a GIF where decoders do when no valid block follows", () => {
  const endless = Buffer.concat([animated.subarray(0, -1), Buffer.from(SECRET)]);
  expect(strip(endless)).toEqual(animated);
});

test("stripGif does not change a GIF without a trailer or with padding", () => {
  expect(stripGif(animated.subarray(0, -1))).toBeNull();
  expect(stripGif(withBlocks(animated, Buffer.of(0, 0)))).toBeNull();
});

test("stripGif refuses a file truncated within a block, and bytes that are not a GIF", () => {
  const gif = withBlocks(sparseGif(4, 4, [{ width: 4, height: 4 }]), extension(0xfe, SECRET));
  const refusal = expect.objectContaining({ code: "unsupported_media" });
  expect(() => stripGif(gif.subarray(0, gif.length - 3))).toThrow(refusal);
  expect(() => stripGif(Buffer.from("GIF88a and so forth"))).toThrow(refusal);
  for (let length = 0; length < gif.length; length++) {
    const cut = gif.subarray(0, length);
    try {
      stripGif(cut);
    } catch (error) {
      expect(error, `${length}`).toMatchObject({ code: "unsupported_media" });
    }
  }
});

/** The signature and IHDR. */
const HEAD_BYTES = 8 + 25;
const IEND_BYTES = 12;
let plainPng: Buffer;

beforeAll(async () => {
  const pixels = sharp(cornered(64, 48), { raw: { width: 64, height: 48, channels: 3 } });
  plainPng = await pixels.png().toBuffer();
});

const pngPart = (type: string, data: Buffer | string) =>
  pngChunk(type, Buffer.from(data as string, "latin1"));

function withPngChunks(...chunks: Buffer[]): Buffer {
  return Buffer.concat([plainPng.subarray(0, HEAD_BYTES), ...chunks, plainPng.subarray(HEAD_BYTES)]);
}

const stripPngFile = (bytes: Buffer) => stripped(bytes, stripPng);

const uprightPng = (png: Buffer) =>
  sharp(png, { autoOrient: true }).raw().toBuffer({ resolveWithObject: true });

test.each([
  ["EXIF", pngPart("eXIf", exifBlock(1))],
  ["a text", pngPart("tEXt", `Author\0${SECRET}`)],
  ["a compressed text", pngPart("zTXt", Buffer.concat([Buffer.from("Comment\0\0"), deflateSync(SECRET)]))],
  ["XMP", pngPart("iTXt", `XML:com.adobe.xmp\0\0\0\0\0<x:xmpmeta>${SECRET}</x:xmpmeta>`)],
  ["the time", pngPart("tIME", "\x07\xe8\x01\x02\x03\x04\x05")],
  ["a private pngPart", pngPart("prVt", SECRET)],
])("stripPng removes only %s", (_, added) => {
  expect(stripPngFile(withPngChunks(added))).toEqual(plainPng);
  const atEnd = Buffer.concat([plainPng.subarray(0, -IEND_BYTES), added, plainPng.subarray(-IEND_BYTES)]);
  expect(stripPngFile(atEnd)).toEqual(plainPng);
});

test("stripPng keeps chunks for appearance and colour", () => {
  const types = "tRNS gAMA cHRM sRGB iCCP cICP mDCV cLLI sBIT bKGD hIST pHYs sPLT".split(" ");
  for (const type of types) expect(stripPng(withPngChunks(pngPart(type, "data"))), type).toBeNull();
});

test("stripPng keeps an animation and the standard's critical chunks, and removes unknown ones", () => {
  const animated = withPngChunks(...["acTL", "fcTL", "fdAT", "PLTE"].map((type) => pngPart(type, "data")));
  expect(stripPng(animated)).toBeNull();
  expect(stripPngFile(withPngChunks(pngPart("NeWc", SECRET)))).toEqual(plainPng);
  // Of an animation whatever its checksums.
  const spoilt = ["acTL", "fcTL", "fdAT"].map((type) => pngPart(type, "data").fill(0, 12));
  expect(stripPng(withPngChunks(...spoilt))).toBeNull();
  expect(stripPngFile(withPngChunks(pngPart("gAMA", "data").fill(0, 12)))).toEqual(plainPng);
});

test.each<ByteOrder>(["II", "MM"])(
  "stripPng reduces EXIF in byte order %s to its orientation",
  async (byteOrder) => {
    for (let orientation = 2; orientation <= 8; orientation++) {
      const original = withPngChunks(
        pngPart("eXIf", exifBlock(orientation, byteOrder)),
        pngPart("tEXt", SECRET),
      );
      const stripped = stripPngFile(original);
      expect(stripped.includes(EXIF_SECRET)).toBe(false);
      expect(await sharp(stripped).metadata()).toMatchObject({ orientation });
      expect(await uprightPng(stripped)).toEqual(await uprightPng(original));
      expect(stripPng(stripped)).toBeNull();
    }
  },
);

test("stripPng keeps the colour profile byte for byte", async () => {
  const profiled = await sharp(plainPng)
    .withIccProfile("p3")
    .withExif({ IFD0: { Artist: SECRET } })
    .png()
    .toBuffer();
  expect(profiled.includes(SECRET)).toBe(true);
  const stripped = stripPngFile(profiled);
  expect(stripped.includes(SECRET)).toBe(false);
  const [before, after] = await Promise.all([profiled, stripped].map((png) => sharp(png).metadata()));
  expect(before?.icc?.length).toBeGreaterThan(100);
  expect(after?.icc).toEqual(before?.icc);
  expect(await uprightPng(stripped)).toEqual(await uprightPng(profiled));
});

test("stripPng removes everything after the end", () => {
  expect(stripPngFile(Buffer.concat([plainPng, Buffer.from(SECRET)]))).toEqual(plainPng);
});

test("stripPng removes metadata from a file truncated anywhere", () => {
  const whole = withPngChunks(pngPart("tEXt", SECRET), pngPart("eXIf", exifBlock(6)));
  for (let length = 8; length < whole.length; length++) {
    expect(stripPngFile(whole.subarray(0, length)).includes(SECRET.slice(0, 4)), `${length}`).toBe(false);
  }
});

test("stripPng refuses bytes that are not a PNG", () => {
  expect(() => stripPng(Buffer.from("\x89PNX\r\n\x1a\n", "latin1"))).toThrow(
    expect.objectContaining({ code: "unsupported_media" }),
  );
});

const plain = () => sharp({ create: { width: 9, height: 7, channels: 4, background: "#e33a" } });

function chunk(type: string, data: Buffer): Buffer {
  const header = Buffer.from(`${type}\0\0\0\0`, "latin1");
  header.writeUInt32LE(data.length, 4);
  return Buffer.concat([header, data, Buffer.alloc(data.length % 2)]);
}

/** The file with `more` behind its last chunk, which its header counts. */
function withChunks(webp: Buffer, ...more: Buffer[]): Buffer {
  const file = Buffer.concat([webp, ...more]);
  file.writeUInt32LE(file.length - 8, 4);
  return file;
}

async function shown(webp: Buffer) {
  const { orientation, icc, pages, delay, loop } = await sharp(webp, { animated: true }).metadata();
  return {
    orientation,
    icc,
    pages,
    delay,
    loop,
    pixels: await sharp(webp, { animated: true }).raw().toBuffer(),
  };
}

test("stripWebp removes EXIF, XMP, unknown chunks and data after the end, and keeps pixels, profile and orientation", async () => {
  for (const orientation of [1, 6]) {
    const described = await plain()
      .withIccProfile("p3")
      .withMetadata({ orientation })
      .withExifMerge({ IFD0: { Make: SECRET }, IFD3: { GPSLatitudeRef: "N" } })
      .withXmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${SECRET}</x:xmpmeta>`)
      .webp()
      .toBuffer();
    const trailed = Buffer.concat([
      withChunks(described, chunk("ABCD", Buffer.from(SECRET))),
      Buffer.from(SECRET),
    ]);
    expect(trailed.toString("latin1").split(SECRET).length).toBeGreaterThan(4);
    const stripped = stripWebp(trailed);
    expect(stripped.includes(SECRET)).toBe(false);
    expect(stripped.readUInt32LE(4)).toBe(stripped.length - 8);
    const { exif, xmp, orientation: kept } = await sharp(stripped).metadata();
    expect([exif === undefined, xmp, kept ?? 1]).toEqual([orientation === 1, undefined, orientation]);
    expect(await shown(stripped)).toEqual({ ...(await shown(described)), orientation: kept });
    expect(stripWebp(stripped)).toEqual(stripped);
  }
});

test("stripWebp keeps files without metadata byte for byte, and animations with their timing", async () => {
  const still = await plain().webp({ lossless: true }).toBuffer();
  expect(stripWebp(still)).toEqual(still);
  const animated = await sharp(await animation(16, 12, CORNERS, { delay: [50, 60, 70, 80], loop: 3 }), {
    animated: true,
  })
    .webp()
    .toBuffer();
  // Into the first frame, too.
  const at = animated.indexOf("ANMF");
  const length = animated.readUInt32LE(at + 4);
  const end = at + 8 + length + (length % 2);
  const frame = Buffer.concat([
    animated.subarray(at + 8, at + 8 + length),
    Buffer.alloc(length % 2),
    chunk("WXYZ", Buffer.from(SECRET)),
  ]);
  const described = withChunks(
    Buffer.concat([animated.subarray(0, at), chunk("ANMF", frame), animated.subarray(end)]),
  );
  const stripped = stripWebp(described);
  expect(stripped.includes(SECRET)).toBe(false);
  expect(await shown(stripped)).toEqual(await shown(animated));
});

test("stripWebp reads a file cut at any byte without an error, and stripRaster refuses what is no picture", async () => {
  const webp = await plain()
    .withExif({ IFD0: { Make: SECRET } })
    .webp()
    .toBuffer();
  for (let length = 12; length < webp.length; length++) {
    expect(stripWebp(webp.subarray(0, length)).length).toBeLessThanOrEqual(length + 1);
  }
  for (const bytes of [Buffer.alloc(0), webp.subarray(0, 11), Buffer.from("GIF89a"), Buffer.from("<svg/>")]) {
    expect(stripRaster(bytes)).toBeUndefined();
  }
});
