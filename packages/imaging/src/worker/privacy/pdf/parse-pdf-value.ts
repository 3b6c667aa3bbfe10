import { Code, endOfWord, isDigit, isWordAt, skipSpace } from "./pdf-lexer.ts";
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

/**
 * Parses the value at `position`, after optional white space. Returns `null` without a complete value. Tolerates what
 * readers tolerate: stray words in dictionaries, and dictionaries not closed before the end of their object.
 *
 * Source: ISO 32000-1, sections 7.2 and 7.3.
 */
export function parsePdfValue(bytes: Buffer, position: number): PdfValue | null {
  return parseValue(bytes, position, 0);
}

function parseValue(bytes: Buffer, position: number, depth: number): PdfValue | null {
  const start = skipSpace(bytes, position);
  if (start === bytes.length || depth > MAX_DEPTH) return null;
  switch (bytes[start]) {
    case Code.SLASH:
      return parseName(bytes, start);
    case Code.PAREN_OPEN:
      return parseLiteralString(bytes, start);
    case Code.BRACKET_OPEN:
      return parseArray(bytes, start, depth);
    case Code.ANGLE_OPEN: {
      const isDictionary = bytes[start + 1] === Code.ANGLE_OPEN;
      return isDictionary ? parseDictionary(bytes, start, depth) : parseHexString(bytes, start);
    }
    default:
      return parseNumber(bytes, start) ?? parseWord(bytes, start);
  }
}

function parseName(bytes: Buffer, start: number): PdfName {
  const end = endOfWord(bytes, start + 1);
  const raw = bytes.toString("latin1", start + 1, end);
  return { kind: "name", text: raw.includes("#") ? unescapeName(raw) : raw, start, end };
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

function parseArray(bytes: Buffer, start: number, depth: number): PdfArray | null {
  const items: PdfValue[] = [];
  let position = start + 1;
  for (;;) {
    const next = skipSpace(bytes, position);
    if (bytes[next] === Code.BRACKET_CLOSE) return { kind: "array", items, start, end: next + 1 };
    const item = parseValue(bytes, next, depth + 1);
    if (item === null || isEndOfObject(bytes, item)) return null;
    items.push(item);
    position = item.end;
  }
}

function parseDictionary(bytes: Buffer, start: number, depth: number): PdfDictionary | null {
  const entries: PdfDictionary["entries"] = [];
  let position = start + 2;
  for (;;) {
    const next = skipSpace(bytes, position);
    if (isWordAt(bytes, next, ">>")) return { kind: "dictionary", entries, start, end: next + 2 };
    const key = parseValue(bytes, next, depth + 1);
    if (key === null) return null;
    if (isEndOfObject(bytes, key)) return { kind: "dictionary", entries, start, end: next };
    position = key.end;
    if (key.kind !== "name" || isWordAt(bytes, skipSpace(bytes, position), ">>")) continue;
    const value = parseValue(bytes, position, depth + 1);
    if (value === null) return null;
    if (isEndOfObject(bytes, value)) continue;
    entries.push({ key: key.text, value });
    position = value.end;
  }
}

/** A number, or a reference that begins with one. */
function parseNumber(bytes: Buffer, start: number): PdfNumber | PdfReference | null {
  const sign = bytes[start];
  const firstDigit = sign === Code.MINUS || sign === Code.PLUS ? start + 1 : start;
  const end = endOfDigits(bytes, firstDigit);
  if (bytes[end] === Code.POINT) {
    const fractionEnd = endOfDigits(bytes, end + 1);
    const value = Number(bytes.toString("latin1", start, fractionEnd));
    return Number.isNaN(value) ? null : { kind: "number", value, start, end: fractionEnd };
  }
  if (end === firstDigit) return null;
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
function parseWord(bytes: Buffer, start: number): PdfOther {
  return { kind: "word", start, end: Math.max(start + 1, endOfWord(bytes, start)) };
}

function isEndOfObject(bytes: Buffer, { kind, start }: PdfValue): boolean {
  return kind === "word" && (isWordAt(bytes, start, "endobj") || isWordAt(bytes, start, "stream"));
}
