import { SaxesParser } from "saxes";
import { type JpegSegment, Marker, readJpegSegments, startsWith, writeSegment } from "./jpeg-segments.ts";

/** What an XMP segment begins with, and its packet follows. */
const XMP = "http://ns.adobe.com/xap/1.0/\0";
const ISO = "urn:iso:std:iso:ts:21496:-1\0";
const MPF = "MPF\0";
const HDRGM = "http://ns.adobe.com/hdr-gain-map/1.0/";
const CONTAINER = "http://ns.google.com/photos/1.0/container/";
const RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/** Phones write two to four pictures into a file. */
const MAX_PICTURES = 16;
const MP_ENTRY_TAG = 0xb002;
const IFD_ENTRY_BYTES = 12;
const MP_ENTRY_BYTES = 16;

/** The kinds of segments that tell of a gain map. */
export const HDR_KINDS = ["mpf", "xmp", "iso"] as const;
export type HdrKind = (typeof HDR_KINDS)[number];

/** The kind of a segment that tells of a gain map; `undefined` for any other. */
export function hdrKind({ marker, payload }: JpegSegment): HdrKind | undefined {
  if (marker === Marker.APP1) return startsWith(payload, XMP) ? "xmp" : undefined;
  if (marker !== Marker.APP2) return undefined;
  return startsWith(payload, MPF) ? "mpf" : startsWith(payload, ISO) ? "iso" : undefined;
}

/** The first segments of a JPEG, before its scans, that tell of a gain map, rightly or not. */
export function readHdr(jpeg: Buffer): Partial<Record<HdrKind, JpegSegment>> {
  const found: Partial<Record<HdrKind, JpegSegment>> = {};
  for (const segment of readJpegSegments(jpeg)) {
    if (segment.marker === Marker.SOS) break;
    const kind = hdrKind(segment);
    if (kind !== undefined) found[kind] ??= segment;
  }
  return found;
}

/** A range of bytes. */
interface Range {
  start: number;
  end: number;
}

/**
 * The pictures that an MPF segment lists beside the first one, in order. Empty if any range is outside the file, before `end` of
 * the first picture or in another range, or if there are too many.
 *
 * Source: CIPA DC-007-2009, section 5.2.
 */
export function readPictureRanges(bytes: Buffer, { payload }: JpegSegment, end: number): Range[] {
  const tiff = payload.subarray(MPF.length);
  const origin = tiff.byteOffset - bytes.byteOffset;
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const isLittle = startsWith(tiff, "II");
  const long = (at: number) => view.getUint32(at, isLittle);
  const ranges: Range[] = [];
  try {
    const directory = long(4);
    let entry = directory + 2;
    const last = directory + view.getUint16(directory, isLittle) * IFD_ENTRY_BYTES;
    while (view.getUint16(entry, isLittle) !== MP_ENTRY_TAG && entry < last) entry += IFD_ENTRY_BYTES;
    const [length, list] = [long(entry + 4), long(entry + 8)];
    if (length > MAX_PICTURES * MP_ENTRY_BYTES) return [];
    // The first picture is this one.
    for (let at = list + MP_ENTRY_BYTES; at < list + length; at += MP_ENTRY_BYTES) {
      const start = origin + long(at + 8);
      ranges.push({ start, end: start + long(at + 4) });
    }
  } catch {
    // The list ends too early.
    return [];
  }
  ranges.sort((some, other) => some.start - other.start);
  const isSound = ranges.every(
    (range, index) => range.start >= (ranges[index - 1]?.end ?? end) && range.end <= bytes.length,
  );
  return isSound ? ranges : [];
}

/** The payload for a picture and its gain map, of which {@link writeMpf} sets the lengths and the position. */
const MPF_PAYLOAD = [
  `${MPF}MM\0*\0\0\0\x08\0\x03`,
  "\xb0\0\0\x07\0\0\0\x040100\xb0\x01\0\x04\0\0\0\x01\0\0\0\x02\xb0\x02\0\x07\0\0\0\x20\0\0\0\x32\0\0\0\0",
  `\0\x03\0\0${"\0".repeat(28)}`,
].join("");

/**
 * The MPF segment of a picture and its gain map.
 * @param primaryBytes Length of the whole picture. @param before Bytes of it before this segment.
 */
export function writeMpf(primaryBytes: number, before: number, mapBytes: number): Buffer {
  const payload = Buffer.from(MPF_PAYLOAD, "latin1");
  payload.writeUInt32BE(primaryBytes, 58);
  payload.writeUInt32BE(mapBytes, 74);
  // From the byte order, after marker, length and identifier.
  payload.writeUInt32BE(Math.max(0, primaryBytes - before - 8), 78);
  return writeSegment(Marker.APP2, payload);
}

/**
 * The ISO 21496-1 segment without what may follow its fields. In the picture it holds a version, in the map also the
 * parameters. `null` if it is too short.
 *
 * Source: ISO 21496-1:2025, annex C.2.
 */
export function reduceIso({ payload }: JpegSegment, of: "picture" | "map"): Buffer | null {
  let length = ISO.length + 4;
  if (of === "map") {
    const flags = payload[length] ?? 0;
    const [channels, hasCommonDenominator] = [(flags & 0x80) === 0 ? 1 : 3, (flags & 8) !== 0];
    length += 1 + (hasCommonDenominator ? 12 + 20 * channels : 16 + 40 * channels);
  }
  return payload.length < length ? null : writeSegment(Marker.APP2, payload.subarray(0, length));
}

const NUMBER = /^[-+]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:e[-+]?\d{1,3})?$/i;
/** The fields of a gain map, and the values that they may have. Source: Adobe, Gain Map Specification 1.0. */
const fields: Readonly<Record<string, RegExp>> = {
  Version: /^\d{1,3}\.\d{1,3}$/,
  BaseRenditionIsHDR: /^(?:True|False)$/,
  GainMapMin: NUMBER,
  GainMapMax: NUMBER,
  Gamma: NUMBER,
  OffsetSDR: NUMBER,
  OffsetHDR: NUMBER,
  HDRCapacityMin: NUMBER,
  HDRCapacityMax: NUMBER,
};

/** The XMP segment of a gain map with only the fields that describe the map. `null` if it does not describe one. */
export function reduceMapXmp({ payload }: JpegSegment): Buffer | null {
  const found = readFields(payload.toString("utf8", XMP.length));
  if (!fields.Version?.test(found.get("Version")?.[0] ?? "")) return null;
  const texts = Object.entries(fields).map(([name, pattern]) => {
    const values = (found.get(name) ?? []).filter((value) => pattern.test(value));
    if (values.length === 1) return [` hdrgm:${name}="${values[0]}"`, ""];
    // A value for each of red, green and blue.
    const list = values.map((value) => `<rdf:li>${value}</rdf:li>`).join("");
    return values.length === 3 ? ["", `<hdrgm:${name}><rdf:Seq>${list}</rdf:Seq></hdrgm:${name}>`] : ["", ""];
  });
  const [attributes, elements] = [0, 1].map((kind) => texts.map((text) => text[kind]).join(""));
  return writeXmp(`${attributes}>${elements}`);
}

/** Whether the XMP of a picture declares a gain map. */
export function declaresGainMap({ payload }: JpegSegment): boolean {
  return payload.includes(HDRGM);
}

/** The XMP segment of a picture that a gain map of `mapBytes` follows. */
export function writePictureXmp(mapBytes: number): Buffer {
  const items = ['"Primary"', `"GainMap" Item:Length="${mapBytes}"`].map(
    (item) =>
      `<rdf:li rdf:parseType="Resource"><Container:Item Item:Mime="image/jpeg" Item:Semantic=${item}/></rdf:li>`,
  );
  const directory = `<Container:Directory><rdf:Seq>${items.join("")}</rdf:Seq></Container:Directory>`;
  const namespaces = ` xmlns:Container="${CONTAINER}" xmlns:Item="${CONTAINER}item/"`;
  return writeXmp(`${namespaces} hdrgm:Version="1.0">${directory}`);
}

function writeXmp(description: string): Buffer {
  const rdf = `<rdf:RDF xmlns:rdf="${RDF}"><rdf:Description xmlns:hdrgm="${HDRGM}"${description}</rdf:Description></rdf:RDF>`;
  return writeSegment(
    Marker.APP1,
    Buffer.from(`${XMP}<x:xmpmeta xmlns:x="adobe:ns:meta/">${rdf}</x:xmpmeta>`),
  );
}

/** The values of each field, from attributes and elements. Empty for XML that is not well-formed. */
function readFields(packet: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let field: string | undefined;
  const add = (name: string, value: string) => {
    if (value.trim() !== "") found.set(name, [...(found.get(name) ?? []), value.trim()]);
  };
  const parser = new SaxesParser({ xmlns: true });
  parser.on("opentag", ({ uri, local, attributes }) => {
    if (uri === HDRGM) field = local;
    for (const each of Object.values(attributes)) if (each.uri === HDRGM) add(each.local, each.value);
  });
  parser.on("text", (text) => {
    if (field !== undefined) add(field, text);
  });
  parser.on("closetag", ({ uri }) => {
    if (uri === HDRGM) field = undefined;
  });
  try {
    parser.write(packet.replace(/^\uFEFF/, "").replace(/\0+$/, "")).close();
  } catch {
    // Other readers would not find the fields either.
    found.clear();
  }
  return found;
}
