/** Boxes of JPEG 2000 for pixels and colour, and those that hold such boxes. */
const essentials = new Set([
  ...["jP  ", "ftyp", "rreq", "jp2h", "jp2c", "jpch", "jplh", "comp", "copt", "inst", "drep", "cref", "ftbl"],
  ...["flst", "dtbl", "ihdr", "bpcc", "colr", "pclr", "cmap", "cdef", "res ", "resc", "resd", "cgrp", "opct"],
]);
const superboxes = new Set(["jp2h", "jpch", "jplh"]);
const FREE = Buffer.from("free");
const START_OF_CODESTREAM = 0xff4f;
const COMMENT = 0xff64;
const START_OF_TILE = 0xff90;

/** A part of a file and what replaces it, of the same length. */
export interface Replacement {
  start: number;
  bytes: Buffer;
}

/**
 * Yields what removes EXIF, XMP, texts and comments from a JPEG 2000 picture: boxes for other data become free space.
 * Never throws.
 *
 * Source: ISO/IEC 15444-1, annexes A and I; 15444-2, annex M.
 */
export function* findJpxMetadata(
  bytes: Buffer,
  start = 0,
  end = bytes.length,
  isInside = false,
): Generator<Replacement, void> {
  if (!isInside && end - start >= 2 && bytes.readUInt16BE(start) === START_OF_CODESTREAM) {
    yield* findComments(bytes, start, end);
    return;
  }
  for (let box = start; box + 8 <= end; ) {
    const length = bytes.readUInt32BE(box);
    const isLong = length === 1 && box + 16 <= end;
    const declared = isLong ? Number(bytes.readBigUInt64BE(box + 8)) : length;
    const content = box + (isLong ? 16 : 8);
    const boxEnd = length === 0 ? end : Math.min(end, Math.max(content, box + declared));
    const type = bytes.toString("latin1", box + 4, box + 8);
    if (!essentials.has(type)) {
      yield { start: box + 4, bytes: FREE };
      yield { start: content, bytes: Buffer.alloc(boxEnd - content) };
    } else if (type === "jp2c") yield* findComments(bytes, content, boxEnd);
    else if (superboxes.has(type) && !isInside) yield* findJpxMetadata(bytes, content, boxEnd, true);
    box = boxEnd;
  }
}

/** The comments before the first tile. */
function* findComments(bytes: Buffer, start: number, end: number): Generator<Replacement, void> {
  for (let segment = start + 2; segment + 4 <= end; ) {
    const marker = bytes.readUInt16BE(segment);
    if (marker < 0xff00 || marker === START_OF_TILE) return;
    const segmentEnd = Math.min(end, segment + 2 + Math.max(2, bytes.readUInt16BE(segment + 2)));
    if (marker === COMMENT) yield { start: segment + 4, bytes: Buffer.alloc(segmentEnd - segment - 4) };
    segment = segmentEnd;
  }
}
