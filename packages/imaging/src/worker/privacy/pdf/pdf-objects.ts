import { isWordAt, parsePdfValue, type Syntax, skipSpace } from "./parse-pdf-value.ts";
import { countOf, type PdfValue } from "./pdf-value.ts";

/** The numbers before `obj`, and a generous amount of white space. */
const MAX_HEADER_BYTES = 40;
/** The byte before `obj` in `endobj`. */
const LETTER_D = 0x64;

/** An indirect object in a file. A later revision may have superseded it. */
export interface PdfBody {
  number: number;
  /** Position of the number before the word `obj`. In an object stream the same as `start`. */
  header: number;
  /** Position after the word `obj`. */
  start: number;
  /** Position after the value or, for a stream, after the word `endstream`. */
  end: number;
  /** `null` when the value is broken. */
  value: PdfValue | null;
  /** The stored bytes of a stream. */
  data: { start: number; end: number } | null;
  /** Whether all readers read it alike. */
  isRegular: boolean;
}

/** A part of a file at its top level. */
type PdfPart = ({ kind: "object" } & PdfBody) | { kind: "trailer"; value: PdfValue };

/**
 * Walks all objects and trailers of a file in file order. It ignores cross-reference tables: they omit objects of old
 * revisions, and are wrong in damaged files. Never throws.
 *
 * Source: ISO 32000-1, sections 7.3.10 and 7.5.
 */
export function* readPdfParts(bytes: Buffer): Generator<PdfPart, void> {
  let position = 0;
  for (;;) {
    const header = findHeader(bytes, position);
    yield* readTrailers(bytes, position, header?.start ?? bytes.length);
    if (header === null) return;
    const body = readBody(bytes, header);
    yield { kind: "object", ...body };
    position = body.value === null ? header.end : body.end;
  }
}

interface Header {
  number: number;
  start: number;
  end: number;
}

/** The next `N G obj`. */
function findHeader(bytes: Buffer, position: number): Header | null {
  let found = bytes.indexOf("obj", position, "latin1");
  while (found !== -1) {
    const header = bytes[found - 1] === LETTER_D ? null : readHeader(bytes, position, found);
    if (header !== null) return header;
    found = bytes.indexOf("obj", found + 3, "latin1");
  }
  return null;
}

/** The numbers between `position` and the word `obj` at `keyword`. */
function readHeader(bytes: Buffer, position: number, keyword: number): Header | null {
  const before = bytes.toString("latin1", Math.max(position, keyword - MAX_HEADER_BYTES), keyword);
  const match = /(\d{1,10})\s+\d{1,5}\s*$/.exec(before);
  if (match === null) return null;
  return { number: Number(match[1]), start: keyword - before.length + match.index, end: keyword + 3 };
}

/** The trailers between two objects. */
function* readTrailers(bytes: Buffer, start: number, end: number): Generator<PdfPart, void> {
  const gap = bytes.subarray(start, end);
  let found = gap.indexOf("trailer", 0, "latin1");
  while (found !== -1) {
    const value = parsePdfValue(bytes, start + found + "trailer".length);
    if (value !== null) yield { kind: "trailer", value };
    found = gap.indexOf("trailer", found + 1, "latin1");
  }
}

function readBody(bytes: Buffer, { number, start: header, end: start }: Header): PdfBody {
  const syntax: Syntax = { isRegular: true };
  const value = parsePdfValue(bytes, start, syntax);
  if (value === null) {
    return { number, header, start, end: endOfBroken(bytes, start), value, data: null, isRegular: false };
  }
  const data = value.kind === "dictionary" ? findData(bytes, value) : null;
  const end = data === null ? value.end : endOfStream(bytes, data.end);
  // Without the word `endstream`, readers disagree about the end.
  if (end === data?.end) syntax.isRegular = false;
  return { number, header, start, end, value, data, isRegular: syntax.isRegular };
}

/**
 * Objects that readers ignore, unless a damaged or forged table leads them there: inside streams and strings. `known` has
 * the starts of all others.
 */
export function* readHiddenObjects(bytes: Buffer, known: ReadonlySet<number>): Generator<PdfBody, void> {
  let found = bytes.indexOf("obj", 0, "latin1");
  while (found !== -1) {
    const isOther = bytes[found - 1] === LETTER_D || known.has(found + 3);
    const header = isOther ? null : readHeader(bytes, 0, found);
    if (header !== null) yield readBody(bytes, header);
    found = bytes.indexOf("obj", found + 3, "latin1");
  }
}

/** The probable end of an object that cannot be parsed. */
function endOfBroken(bytes: Buffer, start: number): number {
  const next = findHeader(bytes, start)?.start ?? bytes.length;
  const end = bytes.subarray(start, next).indexOf("endobj", 0, "latin1");
  return end === -1 ? next : start + end;
}

/** The position after the word `endstream`, which damaged files may lack. */
function endOfStream(bytes: Buffer, dataEnd: number): number {
  const keyword = skipSpace(bytes, dataEnd);
  return isWordAt(bytes, keyword, "endstream") ? keyword + "endstream".length : dataEnd;
}

/** What follows the data of a stream. The words `endstream` and `endobj` are missing in some damaged files. */
const AFTER_DATA = /^(?:endstream|endobj|\d{1,10}\s+\d{1,5}\s+obj)/;

/** The bytes of a stream, by the length in its dictionary if that is correct, else up to the next `endstream`. */
function findData(bytes: Buffer, dictionary: PdfValue): PdfBody["data"] {
  const keyword = skipSpace(bytes, dictionary.end);
  if (!isWordAt(bytes, keyword, "stream")) return null;
  const lineEnd = keyword + "stream".length;
  const start =
    lineEnd + (/^(?:\r\n|\r|\n)/.exec(bytes.toString("latin1", lineEnd, lineEnd + 2))?.[0].length ?? 0);
  const declared = start + (countOf(dictionary, "Length") ?? bytes.length);
  const following = skipSpace(bytes, declared);
  if (AFTER_DATA.test(bytes.toString("latin1", following, following + MAX_HEADER_BYTES))) {
    return { start, end: declared };
  }
  const found = bytes.indexOf("endstream", start, "latin1");
  if (found === -1) return { start, end: bytes.length };
  return { start, end: found - endOfLineBytes(bytes, found) };
}

/** Bytes of the line end before `position`, which is not part of the stream. */
function endOfLineBytes(bytes: Buffer, position: number): number {
  return /(?:\r\n|\r|\n)?$/.exec(bytes.toString("latin1", position - 2, position))?.[0].length ?? 0;
}
