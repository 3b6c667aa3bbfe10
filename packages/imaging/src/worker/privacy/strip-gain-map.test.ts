import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import { EXIF_SECRET, exifBlock } from "../../../test/exif-blocks.ts";
import {
  HDR_SECRET,
  type HdrParts,
  hdrParts,
  type ListedPicture,
  MAP_XMP,
  mapIso,
  multiPicture,
  PICTURE_ISO,
  pictureXmp,
  segment,
  withSegments,
  xmp,
} from "../../../test/hdr-jpegs.ts";
import { stripped } from "../../../test/stripped.ts";
import { stripJpeg } from "./strip-jpeg.ts";

const [APP1, APP11, COM] = [0xe1, 0xeb, 0xfe];
const EXIF = segment(APP1, Buffer.concat([Buffer.from("Exif\0\0"), exifBlock(6, "II")]));
const PERSONAL = [EXIF, segment(COM, HDR_SECRET), segment(APP11, `JP\0\0${HDR_SECRET}`)];
let parts: HdrParts;
/** A map in Android's form and one in that of ISO 21496-1, with personal metadata. */
let androidMap: Buffer;
let isoMap: Buffer;

beforeAll(async () => {
  parts = await hdrParts();
  androidMap = withSegments(parts.map, ...PERSONAL, MAP_XMP);
  isoMap = withSegments(parts.map, ...PERSONAL, mapIso(HDR_SECRET));
});

function strip(jpeg: Buffer): Buffer {
  const file = stripped(jpeg, (bytes) => stripJpeg(bytes, { gainMap: true }));
  expect(file.includes(HDR_SECRET)).toBe(false);
  expect(file.includes(EXIF_SECRET)).toBe(false);
  // What is stored needs no further change.
  expect(stripJpeg(file, { gainMap: true })).toBeNull();
  return file;
}

const mapIn = async (jpeg: Buffer) => (await sharp(jpeg).metadata()).gainMap?.image;
const pixels = (jpeg: Buffer) => sharp(jpeg).raw().toBuffer();

/** Expects the pixels of picture and map, and exact positions in the list of pictures and in XMP. */
async function expectHdr(jpeg: Buffer, map = parts.map, picture = parts.picture): Promise<void> {
  const found = await mapIn(jpeg);
  if (found === undefined) throw new Error("It has no gain map");
  expect((await pixels(jpeg)).equals(await pixels(picture))).toBe(true);
  expect((await pixels(found)).equals(await pixels(map))).toBe(true);
  const origin = jpeg.indexOf("MPF\0") + 4;
  const [size, offset] = [jpeg.readUInt32BE(origin + 70), jpeg.readUInt32BE(origin + 74)];
  expect(jpeg.readUInt32BE(origin + 54)).toBe(origin + offset);
  expect(origin + offset + size).toBe(jpeg.length);
  expect(jpeg.subarray(origin + offset)).toEqual(found);
  expect(jpeg.subarray(origin + offset - 2, origin + offset)).toEqual(Buffer.of(0xff, 0xd9));
  const length = /Item:Length="(\d+)"/.exec(jpeg.toString("latin1"))?.[1];
  if (length !== undefined) expect(Number(length)).toBe(size);
}

test("stripJpeg removes a gain map unless it is asked to keep it", () => {
  expect(Buffer.concat(stripJpeg(parts.iso) ?? []).includes("MPF\0")).toBe(false);
});

test("stripJpeg keeps the gain map that sharp writes", async () => {
  const stripped = strip(parts.iso);
  await expectHdr(stripped, (await mapIn(parts.iso)) ?? Buffer.alloc(0), parts.iso);
});

describe.each(["MM", "II"] as const)("stripJpeg, list of pictures in byte order %s", (order) => {
  test("keeps a gain map in Android's form without the metadata of picture and map", async () => {
    const picture = withSegments(parts.picture, ...PERSONAL, pictureXmp(androidMap.length));
    const stripped = strip(multiPicture(picture, [{ bytes: androidMap }], { order }));
    await expectHdr(stripped);
    for (const field of ['GainMapMin="-0.5"', 'HDRCapacityMax="2.25"', 'BaseRenditionIsHDR="False"']) {
      expect(stripped.includes(`hdrgm:${field}`)).toBe(true);
    }
    expect((await sharp(stripped).metadata()).orientation).toBe(6);
  });

  test("keeps a gain map in the form of ISO 21496-1", async () => {
    const picture = withSegments(parts.picture, ...PERSONAL, PICTURE_ISO);
    const stripped = strip(multiPicture(picture, [{ bytes: isoMap }], { order }));
    await expectHdr(stripped);
    expect(stripped.includes(PICTURE_ISO)).toBe(true);
    expect(stripped.includes(mapIso())).toBe(true);
  });

  test("keeps only the gain map of several pictures, and nothing between and after them", async () => {
    const other = withSegments(parts.picture, ...PERSONAL);
    const video = Buffer.from(`\0\0\0\x18ftypmp42${HDR_SECRET}`);
    const picture = withSegments(parts.picture, pictureXmp(1), PICTURE_ISO);
    const map = withSegments(parts.map, MAP_XMP, mapIso(HDR_SECRET));
    const list = [{ bytes: other }, { bytes: Buffer.concat([map, video]) }, { bytes: other }];
    await expectHdr(strip(Buffer.concat([multiPicture(picture, list, { order }), video])));
  });
});

test("stripJpeg keeps a gain map directly after a picture whose XMP declares it, and lists it", async () => {
  const picture = withSegments(parts.picture, EXIF, pictureXmp(androidMap.length), ...PERSONAL);
  const video = Buffer.from(`\0\0\0\x18ftypmp42${HDR_SECRET}`);
  await expectHdr(strip(Buffer.concat([picture, androidMap, video])));
});

test("stripJpeg keeps a gain map with values for each colour, in elements", async () => {
  const list = `<rdf:Seq>${["-1", "0.5", "1e-2"].map((value) => `<rdf:li>${value}</rdf:li>`).join("")}</rdf:Seq>`;
  const described = xmp(
    `hdrgm:Version="1.0"><hdrgm:GainMapMin>${list}</hdrgm:GainMapMin><hdrgm:GainMapMax>2</hdrgm:GainMapMax><hdrgm:Gamma>${HDR_SECRET}</hdrgm:Gamma><dc:title>${HDR_SECRET}</dc:title>`,
  );
  const stripped = strip(multiPicture(parts.picture, [{ bytes: withSegments(parts.map, described) }]));
  expect(stripped.includes(`<hdrgm:GainMapMin>${list}</hdrgm:GainMapMin>`)).toBe(true);
  expect(stripped.includes(' hdrgm:GainMapMax="2"')).toBe(true);
  expect(stripped.includes("hdrgm:Gamma")).toBe(false);
});

describe("stripJpeg keeps the picture alone if", () => {
  const far = 0xffff_ff00;
  test.each<[string, (map: Buffer) => ListedPicture[], { count?: number }?]>([
    ["the list begins outside the file", (bytes) => [{ bytes, offset: far }]],
    ["the list begins within the picture", (bytes) => [{ bytes, offset: 20 }]],
    ["the list ends outside the file", (bytes) => [{ bytes, size: far }]],
    ["the list ends within the map", (bytes) => [{ bytes, size: bytes.length - 1 }]],
    ["the list has no size", (bytes) => [{ bytes, size: 0 }]],
    ["the list begins beside the map", (bytes) => [{ bytes: Buffer.concat([Buffer.of(0), bytes]) }]],
    ["the list has more entries than bytes", (bytes) => [{ bytes }], { count: 0x0fff_ffff }],
    ["the list has many pictures", (bytes) => Array.from({ length: 40 }, () => ({ bytes }))],
    ["there are two maps", (bytes) => [{ bytes }, { bytes }]],
    ["pictures overlap", (bytes) => [{ bytes, size: bytes.length + 9 }, { bytes: Buffer.alloc(99) }]],
    ["the map is not a JPEG", (bytes) => [{ bytes: Buffer.alloc(bytes.length, "map") }]],
    ["the map is cut off", (bytes) => [{ bytes: bytes.subarray(0, -9) }]],
    [
      "the map has no scan",
      () => [{ bytes: Buffer.concat([withSegments(Buffer.of(0xff, 0xd8, 0xff, 0xd9), MAP_XMP)]) }],
    ],
    ["the map has a list itself", (bytes) => [{ bytes: multiPicture(bytes, [{ bytes }]) }]],
    ["the map has no parameters", () => [{ bytes: parts.map }]],
    [
      "the parameters are cut short",
      () => [{ bytes: withSegments(parts.map, segment(0xe2, mapIso().subarray(4, -9))) }],
    ],
    [
      "the parameters are not XML",
      () => [{ bytes: withSegments(parts.map, xmp('hdrgm:Version="1.0"><a>')) }],
    ],
    [
      "the map has too many segments",
      (map) => [{ bytes: withSegments(map, ...Array.from({ length: 1200 }, () => EXIF)) }],
    ],
  ])("%s", async (_, list, options) => {
    const picture = withSegments(parts.picture, pictureXmp(androidMap.length), PICTURE_ISO);
    expect(strip(multiPicture(picture, list(androidMap), options))).toEqual(parts.picture);
  });

  test("the map has more pixels than the picture", async () => {
    const large = await sharp({ create: { width: 600, height: 600, channels: 3, background: "#888" } })
      .jpeg()
      .toBuffer();
    expect(strip(multiPicture(parts.picture, [{ bytes: withSegments(large, MAP_XMP) }]))).toEqual(
      parts.picture,
    );
  });

  test("only the picture after it claims to be a map", () => {
    expect(strip(Buffer.concat([parts.picture, androidMap]))).toEqual(parts.picture);
  });
});

test("stripJpeg keeps the picture of an HDR JPEG truncated anywhere", () => {
  const picture = withSegments(parts.picture, EXIF, pictureXmp(androidMap.length), PICTURE_ISO);
  const whole = multiPicture(picture, [{ bytes: androidMap }]);
  for (let length = 4; length < whole.length; length += 7) strip(whole.subarray(0, length));
});

test("stripJpeg keeps a list of pictures with any changed byte in bounds", () => {
  const whole = multiPicture(withSegments(parts.picture, PICTURE_ISO), [{ bytes: isoMap }]);
  const end = whole.indexOf(parts.picture.subarray(2, 40));
  for (let at = 2; at < end; at++) {
    for (const value of [0, 1, 0x7f, 0xff]) {
      const changed = Buffer.from(whole);
      changed[at] = value;
      stripJpeg(changed, { gainMap: true });
    }
  }
});
