import { isServiceError } from "@outrigger/core/values";
import { unreadable } from "../picture.ts";
import { Edits } from "./edits.ts";
import { readExifOrientation, writeExifOrientation } from "./exif-orientation.ts";
import {
  declaresGainMap,
  HDR_KINDS,
  type HdrKind,
  hdrKind,
  readPictureRanges,
  reduceIso,
  reduceMapXmp,
  writeMpf,
  writePictureXmp,
} from "./gain-map.ts";
import {
  isFrame,
  type JpegSegment,
  Marker,
  readJpegSegments,
  startsWith,
  writeSegment,
} from "./jpeg-segments.ts";

const TYPE = "image/jpeg";
const SOI = "\xff\xd8";
const EXIF = "Exif\0\0";
/** A picture usually has one EXIF segment, plus one for each careless program. */
const MAX_EXIFS = 1000;
const ALL = Number.POSITIVE_INFINITY;

/** Application segments that affect pixels, with their minimum length and the bytes that decoders read. */
const essentials = [
  { marker: Marker.APP0, identifier: "JFIF\0", minBytes: 14, readBytes: 14 },
  { marker: Marker.APP2, identifier: "ICC_PROFILE\0", minBytes: 14, readBytes: ALL },
  { marker: Marker.APP14, identifier: "Adobe", minBytes: 12, readBytes: 12 },
];

/** A JPEG without its metadata, as edits, and the segments that were neither kept nor removed yet. */
interface Stripped {
  edits: Edits;
  exifs: JpegSegment[];
  /** The first segments, before the scans, that tell of a gain map. */
  hdr: Partial<Record<HdrKind, JpegSegment>>;
  /** The pixels that the frame declares, if it has 8 bits and one or three components; else 0. */
  pixels: number;
  /** Position after the EOI; `null` without one, or without a scan. */
  end: number | null;
}

/**
 * Removes from a JPEG everything that does not affect its pixels: EXIF, XMP, IPTC, comments, thumbnails, camera makers'
 * data, and everything after its end, such as the video of a motion photo. It keeps coded data and tables, JFIF, ICC
 * profile and Adobe's colour transform. EXIF with an orientation is reduced to that. The pieces share the memory of
 * `bytes`; `null` when there is nothing to remove. Throws `unsupported_media` for bytes that are not a JPEG.
 *
 * With `gainMap` it also keeps the one gain map that MPF or Container metadata leads to: a second JPEG, stripped in the same
 * way, directly after the picture. Metadata is then rewritten with only what readers need to find and apply the map. A map
 * that this does not fit is dropped.
 *
 * Sources: ITU-T T.81, annex B; JFIF 1.02; Exif 2.32, section 4.7; ICC.1, annex B.4; Ultra HDR Image Format 1.1.
 */
export function stripJpeg(bytes: Buffer, { gainMap = false } = {}): readonly Buffer[] | null {
  if (!startsWith(bytes, SOI)) throw unreadable(TYPE, "it has no JPEG header");
  const stripped = stripSegments(bytes);
  const { edits, exifs } = stripped;
  reduceExif(exifs, edits);
  const map = gainMap ? findGainMap(bytes, stripped) : null;
  if (map !== null) return joinGainMap(bytes, stripped, map);
  replaceHdr(stripped, {});
  return edits.apply();
}

/** Removes what no reader of the picture needs. Leaves EXIF, and before the scans what tells of a gain map. */
function stripSegments(bytes: Buffer): Stripped {
  const edits = new Edits(bytes, TYPE);
  const stripped: Stripped = { edits, exifs: [], hdr: {}, pixels: 0, end: null };
  let position = 0;
  let isBeforeScans = true;
  for (const segment of readJpegSegments(bytes)) {
    edits.remove(position, segment.start);
    position = segment.end;
    if (isFrame(segment.marker)) stripped.pixels = usualPixels(segment);
    if (segment.marker === Marker.SOS) isBeforeScans = false;
    else if (segment.marker === Marker.EOI && !isBeforeScans) stripped.end = position;
    const length = essentialLength(segment);
    const kind = isBeforeScans ? hdrKind(segment) : undefined;
    if (isExif(segment)) stripped.exifs.push(segment);
    else if (kind !== undefined && stripped.hdr[kind] === undefined) stripped.hdr[kind] = segment;
    else if (length === 0) edits.remove(segment.start, segment.end);
    else if (length < segment.payload.length) {
      edits.replace(segment.start, segment.end, shorten(segment, length));
    }
    if (stripped.exifs.length > MAX_EXIFS) {
      throw unreadable(TYPE, `it has more than ${MAX_EXIFS} EXIF segments`);
    }
  }
  edits.remove(position, bytes.length);
  return stripped;
}

/** The only gain map of a picture, stripped. `null` without one, and for several. */
function findGainMap(bytes: Buffer, { hdr, pixels, end }: Stripped): readonly Buffer[] | null {
  if (end === null) return null;
  const { mpf, xmp } = hdr;
  const declared = xmp !== undefined && declaresGainMap(xmp) ? [{ start: end, end: bytes.length }] : [];
  const ranges = mpf === undefined ? declared : readPictureRanges(bytes, mpf, end);
  const maps = ranges
    .map((range) => stripMap(bytes.subarray(range.start, range.end), pixels))
    .filter((map) => map !== null);
  return maps.length === 1 ? (maps[0] ?? null) : null;
}

/** A gain map without metadata but its own. `null` for any other picture, or one with more than `maxPixels`. */
function stripMap(bytes: Buffer, maxPixels: number): readonly Buffer[] | null {
  if (!startsWith(bytes, SOI)) return null;
  try {
    const stripped = stripSegments(bytes);
    const { edits, exifs, pixels, end } = stripped;
    const { mpf, xmp, iso } = stripped.hdr;
    if (end === null || pixels === 0 || pixels > maxPixels || mpf !== undefined) return null;
    const kept = { xmp: xmp && reduceMapXmp(xmp), iso: iso && reduceIso(iso, "map") };
    for (const { start, end } of exifs) edits.remove(start, end);
    replaceHdr(stripped, kept);
    return kept.xmp || kept.iso ? (edits.apply() ?? [bytes]) : null;
  } catch (error) {
    // It has too many segments. The picture itself can be kept.
    if (isServiceError(error, "unsupported_media")) return null;
    throw error;
  }
}

function usualPixels({ payload }: JpegSegment): number {
  const isUsual = payload.length >= 6 && payload[0] === 8 && (payload[5] === 1 || payload[5] === 3);
  return isUsual ? payload.readUInt16BE(1) * payload.readUInt16BE(3) : 0;
}

/** The picture, what it needs to tell of its gain map, and the map. */
function joinGainMap(bytes: Buffer, stripped: Stripped, map: readonly Buffer[]): readonly Buffer[] | null {
  const { mpf, xmp, iso } = stripped.hdr;
  const mapBytes = lengthOf(map);
  const head = xmp && declaresGainMap(xmp) ? writePictureXmp(mapBytes) : Buffer.alloc(0);
  const index = writeMpf(0, 0, mapBytes);
  const written = mpf === undefined ? Buffer.concat([head, index]) : index;
  replaceHdr(stripped, {
    ...(mpf === undefined ? { xmp: written } : { mpf: written, xmp: head }),
    iso: iso && reduceIso(iso, "picture"),
  });
  const picture = stripped.edits.apply() ?? [];
  const at = written.length - index.length;
  const before = lengthOf(picture.slice(0, picture.indexOf(written))) + at;
  // Its offsets depend on the length of the picture, and so on its own.
  writeMpf(lengthOf(picture), before, mapBytes).copy(written, at);
  const file = [...picture, ...map];
  return lengthOf(file) === bytes.length && Buffer.concat(file).equals(bytes) ? null : file;
}

/** Replaces the segments that tell of a gain map. Removes those of which nothing is kept. */
function replaceHdr(
  { edits, hdr }: Stripped,
  kept: Partial<Record<HdrKind, Buffer | null | undefined>>,
): void {
  for (const kind of HDR_KINDS) {
    const segment = hdr[kind];
    const replacement = kept[kind] ?? Buffer.alloc(0);
    if (segment !== undefined) edits.replace(segment.start, segment.end, replacement);
  }
}

function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/**
 * Yields the ranges that {@link stripJpeg} would remove. To keep the length of a file, fill them with zeros: empty
 * application segments remain.
 */
export function* findJpegMetadata(bytes: Buffer): Generator<{ start: number; end: number }, void> {
  let position = 0;
  for (const segment of readJpegSegments(bytes)) {
    if (segment.start > position) yield { start: position, end: segment.start };
    position = segment.end;
    const length = essentialLength(segment);
    const start = position - segment.payload.length + length;
    if (start < position) yield { start, end: position };
  }
  if (bytes.length > position) yield { start: position, end: bytes.length };
}

/** The bytes of a segment's payload that affect pixels; 0 if the segment can be removed. */
function essentialLength({ marker, payload }: JpegSegment): number {
  // Frames, tables, scans and similar. 0xf0 to 0xfd are reserved, and no decoder uses them.
  if ((marker >= 0xc0 && marker < Marker.APP0) || marker === Marker.TEM) return ALL;
  const essential = essentials.find(
    (candidate) =>
      marker === candidate.marker &&
      payload.length >= candidate.minBytes &&
      startsWith(payload, candidate.identifier),
  );
  return essential?.readBytes ?? 0;
}

export function isExif({ marker, payload }: JpegSegment): boolean {
  return marker === Marker.APP1 && startsWith(payload, EXIF);
}

/** The orientation of an EXIF segment. */
export function readOrientation({ payload }: JpegSegment): number {
  return readExifOrientation(payload.subarray(EXIF.length));
}

/**
 * Reduces EXIF segments to their orientations. If one of several declares an orientation, each keeps its own: readers
 * differ in which segment they use, and each must see the same as before.
 */
function reduceExif(exifs: readonly JpegSegment[], edits: Edits): void {
  const orientations = exifs.map(readOrientation);
  const isOriented = orientations.some((orientation) => orientation !== 1);
  for (const [index, { start, end }] of exifs.entries()) {
    if (!isOriented) edits.remove(start, end);
    else {
      const tiff = writeExifOrientation(orientations[index] ?? 1);
      edits.replace(start, end, writeSegment(Marker.APP1, Buffer.concat([Buffer.from(EXIF), tiff])));
    }
  }
}

/** A segment without the bytes that decoders ignore, such as the thumbnail of JFIF. */
function shorten({ marker, payload }: JpegSegment, length: number): Buffer {
  const shortened = Buffer.from(payload.subarray(0, length));
  // JFIF's last two bytes are the size of the thumbnail.
  if (marker === Marker.APP0) shortened.fill(0, length - 2);
  return writeSegment(marker, shortened);
}
