import { Edits } from "../edits.ts";
import { parsePdfValue } from "./parse-pdf-value.ts";
import type { PdfBody } from "./pdf-objects.ts";
import { countOf, entryOf, type PdfValue } from "./pdf-value.ts";
import { deflateToLength, filtersOf, inflate } from "./stream-filters.ts";

/** Writers usually put a hundred, some a few thousand objects into one stream. */
const MAX_OBJECTS = 100_000;
/** How often all bytes together may be parsed. Objects of one stream overlap only in hostile files. */
const MAX_READINGS = 4;

/** An object stream. Its objects can be edited if it does not compress to more bytes than before. */
export interface ObjectStream {
  content: Buffer;
  /** Changes to `content`. */
  edits: Edits;
  objects: PdfBody[];
  /** The data with the edits, at its old length; `null` when it does not fit. */
  pack(): Buffer | null;
}

/**
 * Opens an object stream of a file that is not encrypted. Returns `null` for compression other than Flate, damage, more
 * than `maxBytes`, more objects than any writer produces, or fewer than the stream declares.
 *
 * Source: ISO 32000-1, section 7.5.7.
 */
export function openObjectStream(dictionary: PdfValue, data: Buffer, maxBytes: number): ObjectStream | null {
  const content = unpack(dictionary, data, maxBytes);
  const first = countOf(dictionary, "First");
  const count = countOf(dictionary, "N");
  if (content === null || first === undefined || count === undefined || count > MAX_OBJECTS) return null;
  const head = content.toString("latin1", 0, first);
  if (!/^[\d\s\0]*$/.test(head)) return null;
  const objects: PdfBody[] = [];
  let parsable = MAX_READINGS * content.length;
  for (const [, number, offset] of head.matchAll(/(\d+)[\s\0]+(\d+)/g)) {
    if (objects.length === count) break;
    const syntax = { isRegular: true };
    const value = parsePdfValue(content, first + Number(offset), syntax);
    if (value === null) return null;
    const { start, end } = value;
    parsable -= end - start;
    if (parsable < 0) return null;
    const { isRegular } = syntax;
    objects.push({ number: Number(number), header: start, start, end, value, data: null, isRegular });
  }
  if (objects.length < count) return null;
  const edits = new Edits(content, "application/pdf");
  const isCompressed = data !== content;
  return {
    content,
    edits,
    objects,
    pack() {
      const pieces = edits.apply();
      if (pieces === null) return data;
      const edited = Buffer.concat(pieces);
      return isCompressed ? deflateToLength(edited, data.length) : edited;
    },
  };
}

function unpack(dictionary: PdfValue, data: Buffer, maxBytes: number): Buffer | null {
  const filters = filtersOf(dictionary);
  if (filters?.length === 0) return data;
  const hasParameters = entryOf(dictionary, "DecodeParms") !== undefined;
  if (filters?.join() !== "FlateDecode" || hasParameters) return null;
  return inflate(data, maxBytes);
}
