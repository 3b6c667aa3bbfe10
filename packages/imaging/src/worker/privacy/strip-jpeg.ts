import { unreadable } from "../unreadable.ts";
import { Edits } from "./edits.ts";
import { readExifOrientation, writeExifOrientation } from "./exif-orientation.ts";
import { type JpegSegment, Marker, readJpegSegments } from "./jpeg-segments.ts";

const TYPE = "image/jpeg";
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

/**
 * Removes from a JPEG everything that does not affect its pixels: EXIF, XMP, IPTC, comments, thumbnails, camera makers'
 * data, and everything after its end, such as the video of a motion photo. It keeps coded data and tables, JFIF, ICC
 * profile and Adobe's colour transform. EXIF with an orientation is reduced to that. The pieces share the memory of
 * `bytes`; `null` when there is nothing to remove. Throws `unsupported_media` for bytes that are not a JPEG.
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

function isExif({ marker, payload }: JpegSegment): boolean {
  return marker === Marker.APP1 && startsWith(payload, EXIF);
}

function startsWith(payload: Buffer, identifier: string): boolean {
  return payload.toString("latin1", 0, identifier.length) === identifier;
}

/**
 * Reduces EXIF segments to their orientations. If one of several declares an orientation, each keeps its own: readers
 * differ in which segment they use, and each must see the same as before.
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

/** A segment without the bytes that decoders ignore, such as the thumbnail of JFIF. */
function shorten({ marker, payload }: JpegSegment, length: number): Buffer {
  const shortened = Buffer.from(payload.subarray(0, length));
  // JFIF's last two bytes are the size of the thumbnail.
  if (marker === Marker.APP0) shortened.fill(0, length - 2);
  return writeSegment(marker, shortened);
}

function writeSegment(marker: number, payload: Buffer): Buffer {
  const head = Buffer.of(0xff, marker, 0, 0);
  head.writeUInt16BE(payload.length + 2, 2);
  return Buffer.concat([head, payload]);
}
