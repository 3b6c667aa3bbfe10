import { findJpegMetadata } from "../strip-jpeg.ts";
import type { PdfObject } from "./pdf-inventory.ts";
import type { PdfValue } from "./pdf-value.ts";
import { deflateToLength, filtersOf, inflate } from "./stream-filters.ts";

/** More than any embedded JPEG has. Flate does not make JPEGs smaller anyway. */
const MAX_JPEG_BYTES = 64 * 1024 ** 2;

/**
 * Fills the metadata of a JPEG in a PDF with zeros. PDF readers use none of it, not even the orientation. Returns false
 * if that is impossible without moving later bytes.
 */
export function blankImageMetadata({ host, data }: PdfObject, value: PdfValue): boolean {
  if (data === null) return true;
  const filters = filtersOf(value)?.join(" ");
  const stored = host.content.subarray(data.start, data.end);
  if (filters === "DCTDecode") {
    for (const { start, end } of findJpegMetadata(stored)) {
      host.edits.replace(data.start + start, data.start + end, Buffer.alloc(end - start));
    }
    return true;
  }
  if (filters !== "FlateDecode DCTDecode") return true;
  const jpeg = inflate(stored, MAX_JPEG_BYTES);
  if (jpeg === null) return true;
  const blanked = Buffer.from(jpeg);
  for (const { start, end } of findJpegMetadata(jpeg)) blanked.fill(0, start, end);
  if (blanked.equals(jpeg)) return true;
  const packed = deflateToLength(blanked, stored.length);
  if (packed !== null) host.edits.replace(data.start, data.end, packed);
  return packed !== null;
}
