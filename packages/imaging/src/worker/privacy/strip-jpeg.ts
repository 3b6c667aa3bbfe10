import { unreadable } from "../unreadable.ts";
import { Edits } from "./edits.ts";
import { readExifOrientation, writeExifOrientation } from "./exif-orientation.ts";
import { type JpegSegment, Marker, readJpegSegments } from "./jpeg-segments.ts";

const TYPE = "image/jpeg";
const EXIF = "Exif\0\0";
/** A picture has one, and one more for each program that did not look. */
const MAX_EXIFS = 1000;
const ALL = Number.POSITIVE_INFINITY;

/**
 * Application segments without which pixels would look different: how long they are at least, and how many bytes of
 * them decoders read.
 */
const essentials = [
  { marker: Marker.APP0, identifier: "JFIF\0", minBytes: 14, readBytes: 14 },
  { marker: Marker.APP2, identifier: "ICC_PROFILE\0", minBytes: 14, readBytes: ALL },
  { marker: Marker.APP14, identifier: "Adobe", minBytes: 12, readBytes: 12 },
];

/**
 * Takes out of a JPEG whatever does not make its pixels: EXIF, XMP, IPTC, comments, thumbnails, what makers of cameras
 * add, and everything behind its end, such as the video of a motion photo. Kept are coded data and tables, JFIF, ICC
 * profile and Adobe's colour transform; EXIF that declares an orientation is reduced to that. The pieces share the
 * memory of `bytes`; `null` when there is nothing to take out. Throws `unsupported_media` for what is no JPEG.
 *
 * Sources: ITU-T T.81, annex B; JFIF 1.02; Exif 2.32, section 4.7; ICC.1, annex B.4.
 */
export function stripJpeg(bytes: Buffer): readonly Buffer[] | null {
  if (bytes.toString("latin1", 0, 2) !== "\xff\xd8") throw unreadable(TYPE, "it has no JPEG header");
  const edits = new Edits(bytes, TYPE);
  const exifs: JpegSegment[] = [];
  let position = 0;
  for (const segment of readJpegSegments(bytes)) {
    edits.remove(position, segment.start);
    position = segment.end;
    const length = essentialLength(segment);
    if (isExif(segment)) exifs.push(segment);
    else if (length === 0) edits.remove(segment.start, segment.end);
    else if (length < segment.payload.length) {
      edits.replace(segment.start, segment.end, shorten(segment, length));
    }
    if (exifs.length > MAX_EXIFS) throw unreadable(TYPE, `it has more than ${MAX_EXIFS} EXIF segments`);
  }
  edits.remove(position, bytes.length);
  reduceExif(exifs, edits);
  return edits.apply();
}

/**
 * Yields where a JPEG holds what {@link stripJpeg} would take out. Each range can be filled with zeros instead where
 * the length of a file must not change: what is left then are empty application segments.
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

/** How many bytes of its payload a segment needs for its pixels; 0 where it can go. */
function essentialLength({ marker, payload }: JpegSegment): number {
  // Frames, tables, scans and their like; 0xf0 to 0xfd are reserved and used by no decoder.
  if ((marker >= 0xc0 && marker < Marker.APP0) || marker === Marker.TEM) return ALL;
  const essential = essentials.find(
    (candidate) =>
      marker === candidate.marker &&
      payload.length >= candidate.minBytes &&
      startsWith(payload, candidate.identifier),
  );
  return essential?.readBytes ?? 0;
}

function isExif({ marker, payload }: JpegSegment): boolean {
  return marker === Marker.APP1 && startsWith(payload, EXIF);
}

function startsWith(payload: Buffer, identifier: string): boolean {
  return payload.toString("latin1", 0, identifier.length) === identifier;
}

/**
 * Where one of several declares an orientation, each keeps its own: readers differ in which of them they take, and none
 * must see another than before.
 */
function reduceExif(exifs: readonly JpegSegment[], edits: Edits): void {
  const orientations = exifs.map(({ payload }) => readExifOrientation(payload.subarray(EXIF.length)));
  const isOriented = orientations.some((orientation) => orientation !== 1);
  for (const [index, { start, end }] of exifs.entries()) {
    if (!isOriented) edits.remove(start, end);
    else {
      const tiff = writeExifOrientation(orientations[index] ?? 1);
      edits.replace(start, end, writeSegment(Marker.APP1, Buffer.concat([Buffer.from(EXIF), tiff])));
    }
  }
}

/** A segment without the bytes that decoders do not read: of JFIF, its thumbnail. */
function shorten({ marker, payload }: JpegSegment, length: number): Buffer {
  const shortened = Buffer.from(payload.subarray(0, length));
  // JFIF's last two bytes measure the thumbnail.
  if (marker === Marker.APP0) shortened.fill(0, length - 2);
  return writeSegment(marker, shortened);
}

function writeSegment(marker: number, payload: Buffer): Buffer {
  const head = Buffer.of(0xff, marker, 0, 0);
  head.writeUInt16BE(payload.length + 2, 2);
  return Buffer.concat([head, payload]);
}
