import sharp from "sharp";
import { cornered, type Rgb } from "./pictures.ts";

// sharp 0.35 does not declare these methods.
declare module "sharp" {
  interface Sharp {
    keepGainMap(): Sharp;
    withGainMap(): Sharp;
  }
}

/** Texts that no cleaned file may contain. */
export const HDR_SECRET = "where-it-was-taken";

const NAMESPACES = [
  'xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"',
  'xmlns:Container="http://ns.google.com/photos/1.0/container/"',
  'xmlns:Item="http://ns.google.com/photos/1.0/container/item/"',
  'xmlns:dc="http://purl.org/dc/elements/1.1/"',
].join(" ");
const ISO = "urn:iso:std:iso:ts:21496:-1\0";

/** The parts of a phone's HDR picture. */
export interface HdrParts {
  /** The picture for usual screens, without metadata. */
  picture: Buffer;
  /** The coded gain map, without metadata. */
  map: Buffer;
  /** An HDR JPEG as sharp writes it, in the form of ISO 21496-1. */
  iso: Buffer;
}

/** The brightness of the map, 0 to 255, at the quarters of {@link CORNERS}. */
export const MAP_GREYS = [250, 170, 90, 10];

/** A picture with one colour in each quarter, and another gain in each. */
export async function hdrParts(width = 256, height = 128): Promise<HdrParts> {
  const size = { width: width / 2, height: height / 2 };
  const greys = MAP_GREYS.map((grey): Rgb => [grey, grey, grey]);
  const encoded = (pixels: Buffer, raw: typeof size) => sharp(pixels, { raw: { ...raw, channels: 3 } });
  const picture = await encoded(cornered(width, height), { width, height }).jpeg({ quality: 90 }).toBuffer();
  const map = await encoded(cornered(size.width, size.height, greys), size)
    .toColourspace("b-w")
    .jpeg({ quality: 90 })
    .toBuffer();
  const written = multiPicture(withSegments(picture, PICTURE_ISO), [{ bytes: withSegments(map, mapIso()) }]);
  return { picture, map, iso: await sharp(written).keepGainMap().jpeg({ quality: 90 }).toBuffer() };
}

export function segment(marker: number, payload: Buffer | string): Buffer {
  const content = Buffer.from(payload as string, "latin1");
  const head = Buffer.of(0xff, marker, 0, 0);
  head.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([head, content]);
}

/** The JPEG with additional segments after its first marker. */
export function withSegments(jpeg: Buffer, ...segments: Buffer[]): Buffer {
  return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
}

export function xmp(description: string): Buffer {
  return segment(
    0xe1,
    `http://ns.adobe.com/xap/1.0/\0<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description ${NAMESPACES} ${description}</rdf:Description></rdf:RDF></x:xmpmeta>  <?xpacket end="w"?>`,
  );
}

/** The XMP of an Android phone's map. */
export const MAP_XMP = xmp(
  `hdrgm:Version="1.0" hdrgm:GainMapMin="-0.5" hdrgm:GainMapMax="2.25" hdrgm:Gamma="1" hdrgm:OffsetSDR="0.015625" hdrgm:OffsetHDR="0.015625" hdrgm:HDRCapacityMin="0" hdrgm:HDRCapacityMax="2.25" hdrgm:BaseRenditionIsHDR="False" dc:creator="${HDR_SECRET}">`,
);

/** The XMP of an Android phone's picture. */
export function pictureXmp(mapBytes: number): Buffer {
  return xmp(
    `hdrgm:Version="1.0" dc:creator="${HDR_SECRET}"><Container:Directory><rdf:Seq><rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="Primary" Item:Mime="image/jpeg"/></rdf:li><rdf:li rdf:parseType="Resource"><Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg" Item:Length="${mapBytes}"/></rdf:li></rdf:Seq></Container:Directory>`,
  );
}

/** The ISO 21496-1 segment of a picture. */
export const PICTURE_ISO = segment(0xe2, `${ISO}\0\0\0\0`);

/** The ISO 21496-1 segment of a map of one channel, with `after` behind its fields. */
export function mapIso(after = ""): Buffer {
  const fractions = [0, 1, 9, 4, -1, 2, 9, 4, 1, 1, 1, 64, 1, 64];
  const numbers = Buffer.alloc(4 * fractions.length);
  for (const [index, value] of fractions.entries()) numbers.writeInt32BE(value, 4 * index);
  return segment(
    0xe2,
    Buffer.concat([Buffer.from(`${ISO}\0\0\0\0\x40`, "latin1"), numbers, Buffer.from(after)]),
  );
}

/** A picture in an MPF list: its bytes, and false values for its entry. */
export interface ListedPicture {
  bytes: Buffer;
  size?: number;
  offset?: number;
}

/** A JPEG with an MPF segment that lists the pictures which follow it. `count` is a false count of entries. */
export function multiPicture(
  picture: Buffer,
  others: ListedPicture[],
  { order = "MM", count = others.length + 1 }: { order?: "MM" | "II"; count?: number } = {},
): Buffer {
  const [isLittle, tiff] = [order === "II", Buffer.alloc(50 + 16 * (others.length + 1))];
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const long = (at: number, value: number) => view.setUint32(at, value >>> 0, isLittle);
  const entry = (at: number, tag: number, type: number, values: number, value: number) => {
    view.setUint16(at, tag, isLittle);
    view.setUint16(at + 2, type, isLittle);
    long(at + 4, values);
    long(at + 8, value);
  };
  tiff.write(order === "II" ? "II*\0" : "MM\0*", "latin1");
  long(4, 8);
  view.setUint16(8, 3, isLittle);
  entry(10, 0xb000, 7, 4, isLittle ? 0x30303130 : 0x30313030);
  entry(22, 0xb001, 4, 1, count);
  entry(34, 0xb002, 7, 16 * count, 50);
  const primaryBytes = picture.length + 8 + tiff.length;
  // The list counts from the byte order: after SOI, marker, length and identifier.
  const origin = 10;
  long(50, 0x20030000);
  long(54, primaryBytes);
  let start = primaryBytes;
  for (const [index, { bytes, size = bytes.length, offset = start - origin }] of others.entries()) {
    long(50 + 16 * (index + 1) + 4, size);
    long(50 + 16 * (index + 1) + 8, offset);
    start += bytes.length;
  }
  const indexed = withSegments(picture, segment(0xe2, Buffer.concat([Buffer.from("MPF\0"), tiff])));
  return Buffer.concat([indexed, ...others.map(({ bytes }) => bytes)]);
}
