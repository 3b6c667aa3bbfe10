import { inflateSync } from "node:zlib";
import type { OriginalType } from "@outrigger/core/images";
import {
  isCritical,
  isKept,
  PNG_SIGNATURE,
  type PngChunk,
  readPngChunks,
  writePngChunk,
} from "./png/png-chunks.ts";
import { Edits } from "./privacy/edits.ts";
import { readExifOrientation } from "./privacy/exif-orientation.ts";
import { type JpegSegment, Marker, readJpegSegments, startsWith } from "./privacy/jpeg-segments.ts";
import { isExif, readOrientation } from "./privacy/strip-jpeg.ts";

/**
 * A PNG or JPEG as browsers read it, where libvips reads it otherwise: they ignore chunks and segments with a wrong checksum,
 * length, value or count, and apply some that libvips ignores. Files that both read alike stay as they are.
 */
export function asBrowsersRead(bytes: Buffer, type: OriginalType): Buffer {
  const edits = new Edits(bytes, type);
  if (type === "image/png" && bytes.indexOf(PNG_SIGNATURE) === 0) editPng(bytes, edits);
  else if (type === "image/jpeg") editJpeg(bytes, edits);
  const pieces = edits.apply();
  return pieces === null ? bytes : Buffer.concat(pieces);
}

function editPng(bytes: Buffer, edits: Edits): void {
  const seen = new Set<string>();
  let header: PngChunk | undefined;
  for (const chunk of readPngChunks(bytes)) {
    const { type, data, start, end } = chunk;
    if (type === "IHDR") header ??= chunk;
    if (isCritical(type)) seen.add(type);
    else if (!isKept(bytes, chunk) || !isRead(chunk, seen)) edits.remove(start, end);
    else if (type === "iCCP" && seen.has("PLTE") && !seen.has("IDAT") && header !== undefined) {
      // libpng ignores a profile after the palette.
      const moved = [bytes.subarray(header.start, header.end), bytes.subarray(start, end)];
      edits.replace(header.start, header.end, Buffer.concat(moved));
      edits.remove(start, end);
    } else if (type === "tRNS") {
      const used = data.subarray(0, TRANSPARENT_BYTES[header?.data[9] ?? 0]);
      edits.replace(start, end, writePngChunk(type, used));
    }
  }
}

/** Bytes of the transparent colour by colour type: grey and RGB. */
const TRANSPARENT_BYTES: Readonly<Record<number, number>> = { 0: 2, 2: 6 };

/** Whether browsers read a sound chunk. @param seen Types of chunks before it, to which its own is added. */
function isRead({ type, data }: PngChunk, seen: Set<string>): boolean {
  const isFirst = !seen.has(type);
  seen.add(type);
  if (type === "sRGB") return data.length === 1 && data.readUInt8() <= 3;
  if (type === "eXIf") return isFirst && readExifOrientation(data) !== 1;
  if (type === "iCCP") return isFirst && isReadProfile(inflated(data.subarray(data.indexOf(0) + 2)));
  return type !== "cHRM" || isFirst;
}

const MAX_PROFILE_BYTES = 16_000_000;

/** Nothing for damaged data. */
function inflated(data: Buffer): Buffer {
  try {
    return inflateSync(data, { maxOutputLength: MAX_PROFILE_BYTES });
  } catch {
    return Buffer.alloc(0);
  }
}

const PROFILE_HEADER_BYTES = 128;
/** The white of profiles, and how far browsers let it be off. */
const WHITE = [0.9642, 1, 0.8249] as const;
const WHITE_TOLERANCE = 0.01;

/**
 * Whether browsers read a profile: it is whole, has the usual white, and is for grey, RGB or inks.
 *
 * Sources: ICC.1:2022, section 7.2; Skia's `skcms_Parse`.
 */
function isReadProfile(profile: Buffer): boolean {
  if (profile.length < PROFILE_HEADER_BYTES || profile.readUInt32BE() > profile.length) return false;
  const isWhite = WHITE.every(
    (value, at) => Math.abs(profile.readInt32BE(68 + 4 * at) / 65_536 - value) <= WHITE_TOLERANCE,
  );
  return isWhite && /^(?:RGB |GRAY|CMYK)$/.test(profile.toString("latin1", 16, 20));
}

const PROFILE = "ICC_PROFILE\0";
/** The identifier, the number of the part and the count of parts. */
const PART_HEADER_BYTES = PROFILE.length + 2;

function editJpeg(bytes: Buffer, edits: Edits): void {
  const exifs: JpegSegment[] = [];
  const parts: JpegSegment[] = [];
  for (const segment of readJpegSegments(bytes)) {
    if (segment.marker === Marker.SOS) break;
    if (isExif(segment)) exifs.push(segment);
    else if (segment.marker === Marker.APP2 && startsWith(segment.payload, PROFILE)) parts.push(segment);
  }
  // Only the first counts.
  const [first] = exifs;
  const isTurned = first !== undefined && readOrientation(first) !== 1;
  for (const exif of exifs) if (!isTurned || exif !== first) edits.remove(exif.start, exif.end);
  const used = joinableParts(parts);
  const profile = Buffer.concat(used.map(({ payload }) => payload.subarray(PART_HEADER_BYTES)));
  const isUsed = isReadProfile(profile);
  for (const part of parts) if (!isUsed || !used.includes(part)) edits.remove(part.start, part.end);
}

/** The parts of a profile in order; none if one is missing or doubled, or the numbers contradict each other. */
function joinableParts(parts: readonly JpegSegment[]): JpegSegment[] {
  const joined: JpegSegment[] = [];
  let found = 0;
  const count = parts[0]?.payload[PART_HEADER_BYTES - 1] ?? 0;
  for (const part of parts) {
    const [number = 0, of] = part.payload.subarray(PROFILE.length);
    if (of !== count || number === 0 || number > count || joined[number - 1] !== undefined) return [];
    joined[number - 1] = part;
    // What follows the last part is not read.
    if (++found === count) return joined;
  }
  return [];
}
