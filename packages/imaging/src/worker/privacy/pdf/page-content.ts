import { Marker, readJpegSegments } from "../jpeg-segments.ts";
import { type PDFContext, PDFDict } from "./library.ts";
import { entryOf, inSyntax, itemsOf, nameOf, numberOf, parseValue } from "./pdf-values.ts";
import { inflatedLength, isSpace } from "./stream-decoders.ts";
import { type DecodeBudget, inlineFiltersOf } from "./stream-filters.ts";

/** A palette of 256 colours in octal escapes takes 3 KB. */
const MAX_DICTIONARY_BYTES = 8192;
/** More than any program writes. Searching for what is missing can scan the rest of the content. */
const MAX_BROKEN_IMAGES = 20;
/** What reading an image takes, in decoded bytes, and what a comment takes. */
const IMAGE_COST = 10_000;
const COMMENT_COST = 500;
const JPEG_START = Buffer.of(0xff, 0xd8, 0xff);
/** Application segments of a JPEG that pixels depend on. Cleaning leaves nothing else in them. */
const usedMarkers: ReadonlySet<number> = new Set([Marker.APP0, Marker.APP2, Marker.APP14]);
/** How often content is searched for JPEGs within JPEGs. */
const MAX_SEARCHES = 8;
const PERCENT = 0x25;
const PAREN = 0x28;
const PAREN_CLOSE = 0x29;
const SLASH = 0x2f;
const ANGLE = 0x3c;
const BACKSLASH = 0x5c;

/** An image inside page content, from its `BI` up to its `EI`. */
export interface InlineImage {
  dictionary: PDFDict;
  data: Buffer;
}

/** What {@link cleanContent} needs besides the content. */
export interface ContentCleaning {
  context: PDFContext;
  /** Charged with what is decoded to find the ends of images. */
  budget: DecodeBudget;
  /** The image without its metadata; `null` when it has none. */
  clean(image: InlineImage): InlineImage | null;
}

const REGULAR = 0;
const SPACE = 1;
const DELIMITER = 2;
/** The class of each byte. Source: ISO 32000-1, tables 1 and 2. */
const classes = new Uint8Array(256);
for (const byte of Buffer.from("\0\t\n\f\r ")) classes[byte] = SPACE;
for (const byte of Buffer.from("()<>[]{}/%")) classes[byte] = DELIMITER;

/**
 * Page content without comments, and with clean inline images. Returns `null` when
 * nothing changes, and `undefined` for content that readers may split in different ways, or that still holds a
 * JPEG's metadata.
 *
 * Source: ISO 32000-1, sections 7.8.2 and 8.9.7.
 */
export function cleanContent(
  content: Buffer,
  { context, budget, clean }: ContentCleaning,
): Buffer | null | undefined {
  // Most content has none of these.
  if (!content.includes("BI") && !content.includes("%") && !content.includes(JPEG_START)) return null;
  const pieces: Buffer[] = [];
  // A piece for each comment could take more memory than there is.
  let text = content;
  let copied = 0;
  let broken = 0;
  const reader = { content, context, budget, searchable: content.length * MAX_SEARCHES };
  const replace = (start: number, end: number, ...bytes: Buffer[]): void => {
    pieces.push(text.subarray(copied, start), ...bytes);
    copied = end;
  };
  const blank = (start: number, end: number): void => {
    if (text === content) text = Buffer.from(content);
    text.fill(0x20, start, end);
  };
  for (let at = 0; at < content.length; ) {
    const end = endOfToken(content, at);
    if (content[at] === PERCENT) {
      blank(at, end);
      budget.bytes -= COMMENT_COST;
      if (budget.bytes < 0) return undefined;
    } else if (end - at === 2 && content[at] === 0x42 && content[at + 1] === 0x49) {
      const image = readImage(reader, end);
      budget.bytes -= IMAGE_COST;
      if (image === null) broken++;
      if (broken > MAX_BROKEN_IMAGES || reader.searchable < 0 || budget.bytes < 0) return undefined;
      if (image !== null) {
        const cleaned = clean(image);
        if (cleaned !== null) replace(at, image.end, ...written(cleaned));
        at = image.end;
        continue;
      }
    }
    at = end;
  }
  const result = copied === 0 ? text : Buffer.concat([...pieces, text.subarray(copied)]);
  if (hasJpegMetadata(result)) return undefined;
  return result === content ? null : result;
}

interface ContentReader {
  content: Buffer;
  context: PDFContext;
  budget: DecodeBudget;
  /** Bytes that may still be searched for ends of images. */
  searchable: number;
}

/** The image whose entries begin at `start`, after `BI`. `null` when it has no data. */
function readImage(reader: ContentReader, start: number): (InlineImage & { end: number }) | null {
  const { content, context } = reader;
  const word = findWord(content, "ID", start, start + MAX_DICTIONARY_BYTES);
  const text = content.subarray(start, Math.max(start, word));
  if (!/^(?:[\0\t\n\f\r ]|%[^\r\n]*[\r\n])*\//.test(text.toString("latin1"))) return null;
  let dictionary: PDFDict;
  try {
    const parsed = parseValue(Buffer.concat([Buffer.from("<<"), text, Buffer.from(">>")]), context);
    if (!(parsed instanceof PDFDict)) return null;
    dictionary = parsed;
  } catch {
    // Not the entries of an image.
    return null;
  }
  const first = word + (isSpace(content[word + 2]) ? 3 : 2);
  const last = first + leastLength(dictionary, content.subarray(first), reader);
  const after = findWord(content, "EI", last, content.length);
  if (after === -1) return { dictionary, data: content.subarray(first), end: content.length };
  const isSpaced = after > last && isSpace(content[after - 1]);
  return { dictionary, data: content.subarray(first, isSpaced ? after - 1 : after), end: after + 2 };
}

/** The bytes at the start of `data` that belong to an image, whatever they look like. */
function leastLength(dictionary: PDFDict, data: Buffer, reader: ContentReader): number {
  const filters = inlineFiltersOf(dictionary);
  const name = filters?.[0]?.name;
  if (name === undefined) return filters === null ? 0 : Math.min(data.length, rawLength(dictionary));
  if (name === "FlateDecode") return inflatedLength(data, reader.budget);
  const end = name === "DCTDecode" ? endOfJpeg(data) : data.indexOf(endMarks.get(name) ?? "") + 1;
  // Without an end, all of it was searched.
  reader.searchable -= end || data.length;
  return end;
}

const endMarks: ReadonlyMap<string, string> = new Map([
  ["ASCII85Decode", "~>"],
  ["ASCIIHexDecode", ">"],
]);

/** The end of a JPEG; 0 without one. */
function endOfJpeg(data: Buffer): number {
  for (const { marker, end } of readJpegSegments(data)) if (marker === Marker.EOI) return end;
  return 0;
}

const components: ReadonlyMap<string, number> = new Map([
  ...(["G", "DeviceGray", "I", "Indexed", "CalGray"] as const).map((name): [string, number] => [name, 1]),
  ...(["RGB", "DeviceRGB", "CalRGB"] as const).map((name): [string, number] => [name, 3]),
  ...(["CMYK", "DeviceCMYK"] as const).map((name): [string, number] => [name, 4]),
]);

/** The length of pixels without a filter; 0 for a colour space of the page. */
function rawLength(dictionary: PDFDict): number {
  const numberAt = (long: string, short: string): number =>
    numberOf(entryOf(dictionary, long) ?? entryOf(dictionary, short)) ?? 0;
  const mask = entryOf(dictionary, "ImageMask") ?? entryOf(dictionary, "IM");
  const space = entryOf(dictionary, "ColorSpace") ?? entryOf(dictionary, "CS");
  const name = nameOf(space) ?? nameOf(itemsOf(space)[0]) ?? "";
  const bits =
    mask?.toString() === "true"
      ? 1
      : (components.get(name) ?? 0) * (numberAt("BitsPerComponent", "BPC") || 8);
  return Math.max(0, Math.ceil((bits * numberAt("Width", "W")) / 8) * numberAt("Height", "H"));
}

function written({ dictionary, data }: InlineImage): Buffer[] {
  const entries = inSyntax(dictionary, (reference) => reference.toString()).slice(2, -2);
  return [Buffer.from(`BI${entries} ID `, "latin1"), data, Buffer.from("\nEI")];
}

/** Whether content holds a JPEG with metadata that was not found as an image. */
function hasJpegMetadata(content: Buffer): boolean {
  let searched = 0;
  for (let at = content.indexOf(JPEG_START); at !== -1; at = content.indexOf(JPEG_START, at + 1)) {
    for (const { marker, start, end, payload } of readJpegSegments(content.subarray(at))) {
      searched += end - start;
      if (searched > content.length * MAX_SEARCHES) return true;
      if (marker === Marker.SOS || marker === Marker.EOI) break;
      const isApplication = marker >= Marker.APP0 && marker <= Marker.APP15 && !usedMarkers.has(marker);
      if ((isApplication || marker === Marker.COM) && payload.length > 0) return true;
    }
  }
  return false;
}

/** The next place of a word between spaces or delimiters; -1 without one before `end`. */
function findWord(content: Buffer, word: string, position: number, end: number): number {
  const part = content.subarray(0, end);
  for (
    let at = part.indexOf(word, position, "latin1");
    at !== -1;
    at = part.indexOf(word, at + 1, "latin1")
  ) {
    const isStart = at === position || classes[content[at - 1] ?? 0] !== REGULAR;
    const after = content[at + word.length];
    if (isStart && (after === undefined || classes[after] !== REGULAR)) return at;
  }
  return -1;
}

/** The end of the token at `at`: white space, a comment, a string, a name, a word or a delimiter. */
function endOfToken(content: Buffer, at: number): number {
  const byte = content[at] ?? 0;
  if (byte === PAREN) return endOfString(content, at);
  if (byte === PERCENT) return endOfRun(content, at, (code) => code !== 0x0a && code !== 0x0d);
  if (byte === ANGLE) {
    if (content[at + 1] === ANGLE) return at + 2;
    const close = content.indexOf(0x3e, at);
    return close === -1 ? content.length : close + 1;
  }
  if (byte === SLASH) return endOfRun(content, at, (code) => classes[code] === REGULAR);
  const kind = classes[byte] ?? REGULAR;
  return kind === DELIMITER ? at + 1 : endOfRun(content, at, (code) => classes[code] === kind);
}

function endOfRun(content: Buffer, at: number, isPart: (byte: number) => boolean): number {
  let end = at + 1;
  while (end < content.length && isPart(content[end] ?? 0)) end++;
  return end;
}

/** The end of a string in parentheses, which may be nested. A backslash escapes the next byte. */
function endOfString(content: Buffer, start: number): number {
  let open = 0;
  for (let at = start; at < content.length; at++) {
    const byte = content[at];
    if (byte === BACKSLASH) at++;
    else if (byte === PAREN) open++;
    else if (byte === PAREN_CLOSE && --open === 0) return at + 1;
  }
  return content.length;
}
