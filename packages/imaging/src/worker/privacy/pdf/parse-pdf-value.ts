import type {
  PdfArray,
  PdfDictionary,
  PdfName,
  PdfNumber,
  PdfOther,
  PdfReference,
  PdfValue,
} from "./pdf-value.ts";

/** Deeper than any real document, and far from a stack overflow. */
const MAX_DEPTH = 200;

const KEYWORDS = ["true", "false", "null"];

/** Longest name that is kept for reuse. */
const MAX_RECENT = 32;

/** Entries of a dictionary that are faster compared with each other than put into a set. */
const MAX_COMPARED = 16;

/** Whether all readers read a value alike. */
export interface Syntax {
  isRegular: boolean;
}

/**
 * Parses the value at `position`, after optional white space. Returns `null` without a complete value. Tolerates what
 * readers tolerate: stray words in dictionaries, and dictionaries not closed before the end of their object. Clears
 * `syntax.isRegular` for those, for keys that occur twice, and for numbers that end in other characters.
 *
 * Source: ISO 32000-1, sections 7.2 and 7.3.
 */
export function parsePdfValue(
  bytes: Buffer,
  position: number,
  syntax: Syntax = { isRegular: true },
): PdfValue | null {
  return parseValue({ bytes, syntax }, position, 0);
}

interface Input {
  bytes: Buffer;
  syntax: Syntax;
}

function parseValue(input: Input, position: number, depth: number): PdfValue | null {
  const { bytes } = input;
  const start = skipSpace(bytes, position);
  if (start === bytes.length || depth > MAX_DEPTH) return null;
  switch (bytes[start]) {
    case Code.SLASH:
      return parseName(bytes, start);
    case Code.PAREN_OPEN:
      return parseLiteralString(bytes, start);
    case Code.BRACKET_OPEN:
      return parseArray(input, start, depth);
    case Code.ANGLE_OPEN: {
      const isDictionary = bytes[start + 1] === Code.ANGLE_OPEN;
      return isDictionary ? parseDictionary(input, start, depth) : parseHexString(bytes, start);
    }
    default:
      return parseNumber(input, start) ?? parseWord(input, start);
  }
}

function parseName(bytes: Buffer, start: number): PdfName {
  const end = endOfWord(bytes, start + 1);
  const raw = textBetween(bytes, start + 1, end);
  return { kind: "name", text: raw.includes("#") ? unescapeName(raw) : raw, start, end };
}

/** The last name of each digest, so that the same few names of a file are not allocated again and again. */
const recentNames: string[] = new Array(4096).fill("");

/** As `toString("latin1")`, which takes longer for a few bytes. */
function textBetween(bytes: Buffer, start: number, end: number): string {
  let digest = end - start;
  for (let next = start; next < end; next++) digest = (Math.imul(digest, 31) + (bytes[next] ?? 0)) | 0;
  const recent = recentNames[digest & 4095] ?? "";
  if (recent.length === end - start && isWordAt(bytes, start, recent)) return recent;
  const text = bytes.toString("latin1", start, end);
  if (text.length <= MAX_RECENT) recentNames[digest & 4095] = text;
  return text;
}

function unescapeName(raw: string): string {
  return raw.replace(/#([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Parses a string in parentheses, which may be nested. A backslash escapes the next byte. */
function parseLiteralString(bytes: Buffer, start: number): PdfOther | null {
  let open = 0;
  for (let next = start; next < bytes.length; next++) {
    const byte = bytes[next];
    if (byte === Code.BACKSLASH) next++;
    else if (byte === Code.PAREN_OPEN) open++;
    else if (byte === Code.PAREN_CLOSE && --open === 0) return { kind: "string", start, end: next + 1 };
  }
  return null;
}

function parseHexString(bytes: Buffer, start: number): PdfOther | null {
  const close = bytes.indexOf(Code.ANGLE_CLOSE, start);
  return close === -1 ? null : { kind: "string", start, end: close + 1 };
}

function parseArray(input: Input, start: number, depth: number): PdfArray | null {
  const { bytes } = input;
  const items: PdfValue[] = [];
  let position = start + 1;
  for (;;) {
    const next = skipSpace(bytes, position);
    if (bytes[next] === Code.BRACKET_CLOSE) return { kind: "array", items, start, end: next + 1 };
    const item = parseValue(input, next, depth + 1);
    if (item === null || isEndOfObject(bytes, item)) return null;
    items.push(item);
    position = item.end;
  }
}

function parseDictionary(input: Input, start: number, depth: number): PdfDictionary | null {
  const { bytes, syntax } = input;
  const entries: PdfDictionary["entries"] = [];
  let position = start + 2;
  for (;;) {
    const next = skipSpace(bytes, position);
    if (isWordAt(bytes, next, ">>")) {
      if (hasDuplicates(entries)) syntax.isRegular = false;
      return { kind: "dictionary", entries, start, end: next + 2 };
    }
    const key = parseValue(input, next, depth + 1);
    if (key === null) return null;
    if (isEndOfObject(bytes, key)) {
      syntax.isRegular = false;
      return { kind: "dictionary", entries, start, end: next };
    }
    position = key.end;
    if (key.kind !== "name" || isWordAt(bytes, skipSpace(bytes, position), ">>")) {
      syntax.isRegular = false;
      continue;
    }
    const value = parseValue(input, position, depth + 1);
    if (value === null) return null;
    if (isEndOfObject(bytes, value)) continue;
    entries.push({ key: key.text, start: key.start, value });
    position = value.end;
  }
}

function hasDuplicates(entries: PdfDictionary["entries"]): boolean {
  if (entries.length > MAX_COMPARED) return new Set(entries.map(({ key }) => key)).size < entries.length;
  for (let index = 1; index < entries.length; index++) {
    for (let other = 0; other < index; other++) if (entries[other]?.key === entries[index]?.key) return true;
  }
  return false;
}

/** A number, or a reference that begins with one. */
function parseNumber({ bytes, syntax }: Input, start: number): PdfNumber | PdfReference | null {
  const sign = bytes[start];
  const firstDigit = sign === Code.MINUS || sign === Code.PLUS ? start + 1 : start;
  const end = endOfDigits(bytes, firstDigit);
  if (bytes[end] === Code.POINT) {
    const fractionEnd = endOfDigits(bytes, end + 1);
    const value = Number(bytes.toString("latin1", start, fractionEnd));
    if (endOfWord(bytes, fractionEnd) > fractionEnd) syntax.isRegular = false;
    return Number.isNaN(value) ? null : { kind: "number", value, start, end: fractionEnd };
  }
  if (end === firstDigit) return null;
  if (endOfWord(bytes, end) > end) syntax.isRegular = false;
  let value = 0;
  for (let next = firstDigit; next < end; next++) value = value * 10 + ((bytes[next] ?? 0) - Code.ZERO);
  const reference = firstDigit === start ? endOfReference(bytes, end) : null;
  if (reference !== null) return { kind: "reference", number: value, start, end: reference };
  return { kind: "number", value: sign === Code.MINUS ? -value : value, start, end };
}

/** The end of a reference whose object number ends at `position`: after a generation and an R. */
function endOfReference(bytes: Buffer, position: number): number | null {
  const generation = skipSpace(bytes, position);
  const generationEnd = endOfDigits(bytes, generation);
  if (generation === position || generationEnd === generation) return null;
  const mark = skipSpace(bytes, generationEnd);
  return bytes[mark] === Code.CAPITAL_R && endOfWord(bytes, mark) === mark + 1 ? mark + 1 : null;
}

function endOfDigits(bytes: Buffer, position: number): number {
  let next = position;
  while (isDigit(bytes[next])) next++;
  return next;
}

/** Parses a word; a stray delimiter is a word. */
function parseWord({ bytes, syntax }: Input, start: number): PdfOther {
  const end = Math.max(start + 1, endOfWord(bytes, start));
  const isKeyword = KEYWORDS.some((word) => word.length === end - start && isWordAt(bytes, start, word));
  if (!isKeyword) syntax.isRegular = false;
  return { kind: "word", start, end };
}

function isEndOfObject(bytes: Buffer, { kind, start }: PdfValue): boolean {
  return kind === "word" && (isWordAt(bytes, start, "endobj") || isWordAt(bytes, start, "stream"));
}

const REGULAR = 0;
const WHITE_SPACE = 1;
const DELIMITER = 2;

/** The class of each byte. Source: ISO 32000-1, tables 1 and 2. */
const classes = new Uint8Array(256);
for (const byte of Buffer.from("\0\t\n\f\r ")) classes[byte] = WHITE_SPACE;
for (const byte of Buffer.from("()<>[]{}/%")) classes[byte] = DELIMITER;

/** Characters with a meaning in the syntax. */
export const Code = {
  LF: 0x0a,
  CR: 0x0d,
  PERCENT: 0x25,
  PAREN_OPEN: 0x28,
  PAREN_CLOSE: 0x29,
  PLUS: 0x2b,
  MINUS: 0x2d,
  POINT: 0x2e,
  SLASH: 0x2f,
  ZERO: 0x30,
  NINE: 0x39,
  ANGLE_OPEN: 0x3c,
  ANGLE_CLOSE: 0x3e,
  CAPITAL_R: 0x52,
  BRACKET_OPEN: 0x5b,
  BACKSLASH: 0x5c,
  BRACKET_CLOSE: 0x5d,
} as const;

/** The position of the next token, after white space and comments. */
export function skipSpace(bytes: Buffer, position: number): number {
  let next = position;
  while (next < bytes.length) {
    const byte = bytes[next] ?? 0;
    if (byte === Code.PERCENT) next = endOfLine(bytes, next);
    else if (classes[byte] === WHITE_SPACE) next++;
    else return next;
  }
  return bytes.length;
}

/** The end of the name, number or word at `position`. */
export function endOfWord(bytes: Buffer, position: number): number {
  let next = position;
  while (next < bytes.length && classes[bytes[next] ?? 0] === REGULAR) next++;
  return next;
}

/** Whether a byte is part of a name, a number or a word. */
export function isRegular(byte: number | undefined): boolean {
  return byte !== undefined && classes[byte] === REGULAR;
}

export function isSpace(byte: number | undefined): boolean {
  return byte !== undefined && classes[byte] === WHITE_SPACE;
}

/** Whether `word` stands at `position`. */
export function isWordAt(bytes: Buffer, position: number, word: string): boolean {
  for (let index = 0; index < word.length; index++) {
    if (bytes[position + index] !== word.charCodeAt(index)) return false;
  }
  return true;
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= Code.ZERO && byte <= Code.NINE;
}

function endOfLine(bytes: Buffer, position: number): number {
  let next = position;
  while (next < bytes.length && bytes[next] !== Code.CR && bytes[next] !== Code.LF) next++;
  return next;
}
