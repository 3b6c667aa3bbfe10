import { readJpegSegments } from "../jpeg-segments.ts";
import {
  Code,
  endOfWord,
  isRegular,
  isSpace,
  isWordAt,
  parsePdfValue,
  skipSpace,
} from "./parse-pdf-value.ts";
import type { PdfDictionary } from "./pdf-value.ts";
import { filtersOf } from "./stream-filters.ts";

/** A palette of 256 colours in octal escapes takes 3 KB. */
const MAX_DICTIONARY_BYTES = 8192;
/** Searching for what is missing can scan the rest of the content. */
const MAX_BROKEN_IMAGES = 20;

/** An image inside a content stream, with the position of its data. */
interface InlineImage {
  dictionary: PdfDictionary;
  start: number;
  end: number;
}

/**
 * The inline images of a content stream. `null` for more than `limit`, and for more broken ones than any program writes.
 *
 * Source: ISO 32000-1, section 8.9.7.
 */
export function findInlineImages(content: Buffer, limit: number): InlineImage[] | null {
  const images: InlineImage[] = [];
  let broken = 0;
  let words = 0;
  for (let at = findWord(content, "BI", 0); at !== -1; ) {
    if (++words > limit) return null;
    const head = content.subarray(0, at + 2 + MAX_DICTIONARY_BYTES);
    const first = skipSpace(head, at + 2);
    const isBegun = head[first] === Code.SLASH || head.subarray(at, first).includes(Code.PERCENT);
    const image = isBegun ? readImage(content, head, first) : null;
    if (image !== null) images.push(image);
    else if (isBegun && ++broken > MAX_BROKEN_IMAGES) return null;
    at = findWord(content, "BI", image?.end ?? at + 2);
  }
  return images;
}

/** The image whose entries begin at `position` and end in `head`. */
function readImage(content: Buffer, head: Buffer, position: number): InlineImage | null {
  const entries: PdfDictionary["entries"] = [];
  let next = position;
  while (head[next] === Code.SLASH) {
    const key = parsePdfValue(head, next);
    const value = key === null ? null : parsePdfValue(head, key.end);
    if (key?.kind !== "name" || value === null) return null;
    entries.push({ key: key.text, start: key.start, value });
    next = skipSpace(head, value.end);
  }
  if (entries.length === 0 || !isWordAt(head, next, "ID") || endOfWord(head, next) !== next + 2) return null;
  const dictionary = { kind: "dictionary", entries, start: position, end: next } as const;
  const start = next + (isSpace(head[next + 2]) ? 3 : 2);
  const isJpeg = filtersOf(dictionary)?.join() === "DCTDecode";
  const end = findWord(content, "EI", isJpeg ? endOfJpeg(content, start) : start);
  if (end === -1) return null;
  return { dictionary, start, end: end > start && isSpace(content[end - 1]) ? end - 1 : end };
}

function endOfJpeg(content: Buffer, start: number): number {
  let end = 0;
  for (const segment of readJpegSegments(content.subarray(start))) end = segment.end;
  return start + end;
}

/** The next place of a word, from `position`, between spaces or delimiters; -1 without one. */
function findWord(content: Buffer, word: string, position: number): number {
  let found = content.indexOf(word, position, "latin1");
  while (found !== -1) {
    const isStart = found === position || !isRegular(content[found - 1]);
    if (isStart && !isRegular(content[found + word.length])) return found;
    found = content.indexOf(word, found + 1, "latin1");
  }
  return -1;
}
