import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import { type ByteOrder, EXIF_SECRET, exifBlock } from "../../../test/exif-blocks.ts";
import { segment, withSegments } from "../../../test/hdr-jpegs.ts";
import { cornered } from "../../../test/pictures.ts";
import { stripped } from "../../../test/stripped.ts";
import { readExifOrientation, writeExifOrientation } from "./exif-orientation.ts";
import { findJpegMetadata, stripJpeg } from "./strip-jpeg.ts";

const SECRET = "a secret";
const SOI_BYTES = 2;
const [APP0, APP1, APP2, APP11, APP13, APP14, COM] = [0xe0, 0xe1, 0xe2, 0xeb, 0xed, 0xee, 0xfe];
let plain: Buffer;
let progressive: Buffer;

beforeAll(async () => {
  plain = await encode({});
  progressive = await encode({ progressive: true });
});

async function encode(options: { progressive?: boolean; icc?: string }): Promise<Buffer> {
  const pixels = sharp(cornered(64, 48), { raw: { width: 64, height: 48, channels: 3 } });
  const coloured = options.icc === undefined ? pixels : pixels.withIccProfile(options.icc);
  return await coloured.jpeg({ progressive: options.progressive ?? false }).toBuffer();
}

function exif(orientation: number, byteOrder: ByteOrder = "MM"): Buffer {
  return segment(APP1, Buffer.concat([Buffer.from("Exif\0\0"), exifBlock(orientation, byteOrder)]));
}

const strip = (bytes: Buffer) => stripped(bytes, stripJpeg);

const upright = (jpeg: Buffer) =>
  sharp(jpeg, { autoOrient: true }).raw().toBuffer({ resolveWithObject: true });

test.each([
  ["EXIF", exif(1)],
  ["XMP", segment(APP1, `http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>${SECRET}</x:xmpmeta>`)],
  ["extended XMP", segment(APP1, `http://ns.adobe.com/xmp/extension/\0${SECRET}`)],
  ["IPTC", segment(APP13, `Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x08${SECRET}`)],
  ["a comment", segment(COM, SECRET)],
  ["a JFXX thumbnail", segment(APP0, `JFXX\0\x10${SECRET}`)],
  ["FlashPix", segment(APP2, `FPXR\0${SECRET}`)],
  ["an index of further pictures", segment(APP2, `MPF\0${SECRET}`)],
  ["JUMBF", segment(APP11, `JP\0\0${SECRET}`)],
  ["an Adobe segment too short to be read", segment(APP14, "Adobe\0d")],
])("stripJpeg removes only %s", (_, added) => {
  expect(strip(withSegments(plain, added))).toEqual(plain);
  expect(strip(withSegments(progressive, added))).toEqual(progressive);
});

test("stripJpeg removes metadata between the scans of a progressive picture", () => {
  const secondScan = progressive.indexOf(
    Buffer.of(0xff, 0xda),
    progressive.indexOf(Buffer.of(0xff, 0xda)) + 2,
  );
  const tables = progressive.lastIndexOf(Buffer.of(0xff, 0xc4), secondScan);
  const commented = Buffer.concat([
    progressive.subarray(0, tables),
    segment(COM, SECRET),
    progressive.subarray(tables),
  ]);
  expect(strip(commented)).toEqual(progressive);
});

describe.each<ByteOrder>(["II", "MM"])("stripJpeg, EXIF in byte order %s", (byteOrder) => {
  test.each([2, 3, 4, 5, 6, 7, 8])("reduces EXIF to orientation %i", async (orientation) => {
    const original = withSegments(plain, exif(orientation, byteOrder));
    const stripped = strip(original);
    expect(stripped.includes(EXIF_SECRET)).toBe(false);
    expect(await sharp(stripped).metadata()).toMatchObject({ orientation });
    expect(await upright(stripped)).toEqual(await upright(original));
    expect(stripJpeg(stripped)).toBeNull();
  });
});

test("stripJpeg keeps each of several orientations", async () => {
  const first = strip(withSegments(plain, exif(6), exif(1)));
  const second = strip(withSegments(plain, exif(1), exif(6)));
  expect((await sharp(first).metadata()).orientation).toBe(6);
  expect((await sharp(second).metadata()).orientation).toBe(1);
  expect(strip(withSegments(plain, exif(1), exif(1)))).toEqual(plain);
});

test("stripJpeg keeps a colour profile, also in several segments", async () => {
  const profiled = await encode({ icc: "p3" });
  expect(strip(withSegments(profiled, exif(1)))).toEqual(profiled);
  const profile = Buffer.alloc(100_000, "colours");
  const parts = [profile.subarray(0, 60_000), profile.subarray(60_000)].map((part, index) =>
    segment(APP2, Buffer.concat([Buffer.from(`ICC_PROFILE\0${String.fromCharCode(index + 1)}\x02`), part])),
  );
  expect(strip(withSegments(plain, exif(1), ...parts))).toEqual(withSegments(plain, ...parts));
});

test("stripJpeg keeps the colour transform of CMYK", async () => {
  const raw = { width: 8, height: 8, channels: 4 } as const;
  const cmyk = await sharp(Buffer.alloc(256, 77), { raw }).toColourspace("cmyk").jpeg().toBuffer();
  const marked = withSegments(cmyk, segment(COM, SECRET));
  expect(strip(marked)).toEqual(cmyk);
  const transform = segment(APP14, "Adobe\0d\0\0\0\0\x01");
  expect(strip(withSegments(plain, transform))).toEqual(withSegments(plain, transform));
  expect(strip(withSegments(plain, segment(APP14, `Adobe\0d\0\0\0\0\x01${SECRET}`)))).toEqual(
    withSegments(plain, transform),
  );
});

test("stripJpeg removes the thumbnail of JFIF and keeps its density", () => {
  const head = "JFIF\0\x01\x02\x01\x00\x48\x00\x48";
  const withThumbnail = withSegments(plain, segment(APP0, `${head}\x02\x01${"\x7f".repeat(6)}`));
  expect(strip(withThumbnail)).toEqual(withSegments(plain, segment(APP0, `${head}\0\0`)));
});

test("stripJpeg removes other pictures and videos after the end", () => {
  const video = Buffer.from(`\0\0\0\x18ftypmp42${SECRET}`);
  expect(strip(Buffer.concat([plain, video]))).toEqual(plain);
  expect(strip(Buffer.concat([progressive, withSegments(plain, exif(6))]))).toEqual(progressive);
});

test("stripJpeg ignores an end marker or a picture within a segment", () => {
  expect(strip(withSegments(plain, segment(COM, plain.toString("latin1"))))).toEqual(plain);
});

test("stripJpeg returns null for a picture without metadata", () => {
  expect(stripJpeg(plain)).toBeNull();
  expect(stripJpeg(progressive)).toBeNull();
});

test("stripJpeg skips fill bytes and junk, as libjpeg does", async () => {
  const filled = withSegments(
    plain,
    Buffer.of(0xff, 0xff),
    exif(3),
    Buffer.from("junk\xff\0", "latin1"),
    exif(1),
  );
  const stripped = strip(filled);
  expect(stripped.includes("junk")).toBe(false);
  expect(stripped.includes(EXIF_SECRET)).toBe(false);
  expect(await upright(stripped)).toEqual(
    await sharp(filled, { autoOrient: true, failOn: "none" }).raw().toBuffer({ resolveWithObject: true }),
  );
});

test("stripJpeg removes metadata from a file truncated anywhere", () => {
  const whole = withSegments(plain, exif(6), segment(COM, SECRET));
  for (let length = SOI_BYTES; length < whole.length; length++) {
    const stripped = strip(whole.subarray(0, length));
    expect(stripped.includes(SECRET.slice(0, 4)), `${length}`).toBe(false);
  }
});

test("stripJpeg refuses bytes that are not a JPEG", () => {
  expect(() => stripJpeg(Buffer.from("GIF89a"))).toThrow(
    expect.objectContaining({ code: "unsupported_media" }),
  );
});

test("findJpegMetadata yields the same ranges, which can be filled with zeros", async () => {
  const original = withSegments(plain, exif(6), segment(COM, SECRET), segment(APP13, SECRET));
  const trailed = Buffer.concat([original, Buffer.from(SECRET)]);
  for (const { start, end } of findJpegMetadata(trailed)) trailed.fill(0, start, end);
  expect(trailed.includes(SECRET)).toBe(false);
  expect(trailed.includes(EXIF_SECRET)).toBe(false);
  expect(await upright(trailed)).toEqual(await upright(plain));
  expect([...findJpegMetadata(plain)]).toEqual([]);
});

const orientations = [1, 2, 3, 4, 5, 6, 7, 8];

test.each<ByteOrder>(["II", "MM"])(
  "readExifOrientation reads every orientation in byte order %s",
  (byteOrder) => {
    for (const orientation of orientations) {
      expect(readExifOrientation(exifBlock(orientation, byteOrder))).toBe(orientation);
    }
  },
);

test("readExifOrientation reads blocks of writeExifOrientation", () => {
  for (const orientation of orientations) {
    expect(readExifOrientation(writeExifOrientation(orientation))).toBe(orientation);
  }
});

test.each([
  ["an orientation that does not exist", exifBlock(9)],
  ["an orientation of type BYTE, as browsers do", exifBlock(6, "II", 1)],
  ["an orientation of type LONG, as browsers do", exifBlock(6, "MM", 4)],
  ["an orientation of no known type", exifBlock(6, "MM", 7)],
  ["two orientations", exifBlock(6).fill(2, 29, 30)],
  ["no value", exifBlock(6).fill(0, 26, 30)],
  ["another byte order", exifBlock(6).fill("IM", 0, 2)],
  ["another magic number", exifBlock(6).fill(0, 2, 4)],
  ["a directory beyond the end", exifBlock(6).fill(0xff, 4, 8)],
  ["no directory entries", exifBlock(6).fill(0, 8, 10)],
])("readExifOrientation returns 1 for %s", (_, block) => {
  expect(readExifOrientation(block)).toBe(1);
});

test("readExifOrientation reads a truncated block up to its end", () => {
  const block = exifBlock(6);
  for (let length = 0; length <= block.length; length++) {
    expect(readExifOrientation(block.subarray(0, length)), `${length}`).toBe(length < 34 ? 1 : 6);
  }
});

test("readExifOrientation ignores an entry count beyond the end of the block", () => {
  expect(readExifOrientation(exifBlock(6).fill(0xff, 8, 10))).toBe(6);
});
