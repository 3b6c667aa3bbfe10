import { Code, endOfWord, isDigit, isWordAt, parsePdfValue, skipSpace } from "./parse-pdf-value.ts";
import type { PdfInventory, PdfObject } from "./pdf-inventory.ts";
import type { PdfBody } from "./pdf-objects.ts";
import { countOf, entryOf, type PdfValue } from "./pdf-value.ts";
import { undoPredictor } from "./stream-decoders.ts";
import { filtersOf, inflate } from "./stream-filters.ts";

/** A cross-reference table or stream, with its trailer. */
interface Section {
  entries: XrefEntry[];
  trailer: PdfValue;
}

/**
 * Whether all readers find exactly the objects of the inventory: every object parses alike everywhere, only known
 * structure lies between objects, and the cross-references lead to those objects. A reader then has no reason to search
 * the file, nor an entry that leads it into the middle of a stream.
 *
 * Source: ISO 32000-1, section 7.5.
 */
export function isSound(inventory: PdfInventory): boolean {
  const { content } = inventory.file;
  if (!isWordAt(content, 0, "%PDF-") || !inventory.objects.every(({ isRegular }) => isRegular)) return false;
  const inFile = inventory.objects.filter(({ host }) => host === inventory.file);
  const sections = readSections(inventory, inFile);
  if (sections === null) return false;
  const headers = new Map(inFile.map(({ header, number }) => [header, number]));
  const streams = new Map<number, PdfBody[][]>();
  for (const { number, stream } of inventory.objectStreams) {
    streams.set(number, [...(streams.get(number) ?? []), stream.objects]);
  }
  const isKnown = ({ number, stream, place }: XrefEntry): boolean =>
    stream === null
      ? headers.get(skipSpace(content, place)) === number
      : streams.get(stream)?.some((objects) => objects[place]?.number === number) === true;
  const waiting = [lastStart(content)];
  const done = new Set<number>();
  for (let start = waiting.pop(); start !== undefined; start = waiting.pop()) {
    if (done.has(start)) continue;
    done.add(start);
    const section = sections.get(start);
    if (section === undefined || !section.entries.every(isKnown)) return false;
    for (const key of ["Prev", "XRefStm"]) {
      if (entryOf(section.trailer, key) === undefined) continue;
      const place = countOf(section.trailer, key);
      if (place === undefined) return false;
      waiting.push(skipSpace(content, place));
    }
  }
  return true;
}

/** Where the last `startxref` leads; -1 when it leads nowhere. */
function lastStart(bytes: Buffer): number {
  const keyword = bytes.lastIndexOf("startxref", undefined, "latin1");
  const digits = keyword === -1 ? null : readNumber(bytes, keyword + "startxref".length);
  return digits === null ? -1 : skipSpace(bytes, digits.value);
}

/** All cross-references of a file by position; `null` when it has something else between its objects. */
function readSections(
  { file, xrefStreams }: PdfInventory,
  objects: readonly PdfObject[],
): Map<number, Section> | null {
  const sections = new Map<number, Section>();
  let position = 0;
  for (const { header, end } of objects) {
    if (!readBetween(file.content, position, header, sections)) return null;
    position = end;
  }
  for (const [header, { dictionary, data }] of xrefStreams) {
    const entries = readXrefStream(dictionary, data);
    if (entries !== null) sections.set(header, { entries, trailer: dictionary });
  }
  return readBetween(file.content, position, file.content.length, sections) ? sections : null;
}

/** Reads what lies between two objects. Returns `false` for anything that has no place there. */
function readBetween(bytes: Buffer, start: number, end: number, sections: Map<number, Section>): boolean {
  let position = skipSpace(bytes, start);
  while (position < end) {
    if (isWordAt(bytes, position, "endobj")) position += "endobj".length;
    else if (isWordAt(bytes, position, "startxref")) {
      const number = readNumber(bytes, position + "startxref".length);
      if (number === null) return false;
      position = number.end;
    } else if (isWordAt(bytes, position, "xref")) {
      const table = readXrefTable(bytes, position);
      const keyword = table === null ? 0 : skipSpace(bytes, table.end);
      if (table === null || !isWordAt(bytes, keyword, "trailer")) return false;
      const syntax = { isRegular: true };
      const trailer = parsePdfValue(bytes, keyword + "trailer".length, syntax);
      if (trailer === null || !syntax.isRegular) return false;
      sections.set(position, { entries: table.entries, trailer });
      position = trailer.end;
    } else return false;
    position = skipSpace(bytes, position);
  }
  return true;
}

function readNumber(bytes: Buffer, position: number): { value: number; end: number } | null {
  const start = skipSpace(bytes, position);
  let end = start;
  while (isDigit(bytes[end])) end++;
  return end === start ? null : { value: Number(bytes.toString("latin1", start, end)), end };
}

/** The place of an object that is in use. */
interface XrefEntry {
  number: number;
  /** The number of the object stream that holds it; `null` when it lies in the file itself. */
  stream: number | null;
  /** The position of its header in the file, or its index in the object stream. */
  place: number;
}

/** More objects than documents of a hundred megabytes have. */
const MAX_ENTRIES = 1_000_000;
const IN_FILE = 1;
const IN_STREAM = 2;

/**
 * Reads the table at `position`, up to its trailer. Returns `null` for one that is not well-formed.
 *
 * Source: ISO 32000-1, section 7.5.4.
 */
function readXrefTable(bytes: Buffer, position: number): { entries: XrefEntry[]; end: number } | null {
  const entries: XrefEntry[] = [];
  let next = skipSpace(bytes, position + "xref".length);
  const readCount = (): number | null => {
    const end = endOfWord(bytes, next);
    let value = 0;
    for (let place = next; place < end; place++) {
      if (!isDigit(bytes[place])) return null;
      value = value * 10 + (bytes[place] ?? 0) - Code.ZERO;
    }
    const isEmpty = end === next;
    next = skipSpace(bytes, end);
    return isEmpty ? null : value;
  };
  while (isDigit(bytes[next])) {
    const first = readCount();
    const count = readCount();
    if (first === null || count === null || count > MAX_ENTRIES) return null;
    for (let index = 0; index < count; index++) {
      const place = readCount();
      const generation = readCount();
      const isInUse = isWordAt(bytes, next, "n");
      if (place === null || generation === null || !(isInUse || isWordAt(bytes, next, "f"))) return null;
      next = skipSpace(bytes, next + 1);
      // Nothing but the file's header lies at 0: such an entry stands for an object that does not exist.
      if (isInUse && place > 0) entries.push({ number: first + index, stream: null, place });
    }
  }
  return { entries, end: next };
}

/**
 * Reads the entries of a cross-reference stream. Returns `null` for unusual compression and damage.
 *
 * Source: ISO 32000-1, section 7.5.8.
 */
function readXrefStream(dictionary: PdfValue, data: Buffer): XrefEntry[] | null {
  const size = countOf(dictionary, "Size");
  const [typeBytes, placeBytes, lastBytes, ...rest] = countsOf(entryOf(dictionary, "W")) ?? [];
  if (size === undefined || typeBytes === undefined || placeBytes === undefined) return null;
  if (lastBytes === undefined || rest.length > 0) return null;
  const rows = unpack(dictionary, data);
  const runs =
    entryOf(dictionary, "Index") === undefined ? [0, size] : countsOf(entryOf(dictionary, "Index"));
  if (rows === null || runs === null || runs.length % 2 === 1) return null;
  const entries: XrefEntry[] = [];
  const rowBytes = typeBytes + placeBytes + lastBytes;
  let position = 0;
  for (let run = 0; run < runs.length; run += 2) {
    const [first = 0, count = 0] = runs.slice(run, run + 2);
    if (rowBytes === 0 || count * rowBytes > rows.length - position) return null;
    for (let number = first; number < first + count; number++) {
      const type = typeBytes === 0 ? IN_FILE : bigEndian(rows, position, typeBytes);
      const place = bigEndian(rows, position + typeBytes, placeBytes);
      const last = bigEndian(rows, position + typeBytes + placeBytes, lastBytes);
      position += rowBytes;
      if (type === IN_FILE && place > 0) entries.push({ number, stream: null, place });
      else if (type === IN_STREAM) entries.push({ number, stream: place, place: last });
    }
  }
  return entries;
}

function countsOf(value: PdfValue | undefined): number[] | null {
  if (value?.kind !== "array") return null;
  const counts = value.items.map((item) => (item.kind === "number" ? item.value : -1));
  return counts.every((count) => Number.isInteger(count) && count >= 0) ? counts : null;
}

function bigEndian(bytes: Buffer, position: number, length: number): number {
  let value = 0;
  for (let index = position; index < position + length; index++) value = value * 256 + (bytes[index] ?? 0);
  return value;
}

/** The rows without compression. Writers use Flate, with predictors. */
function unpack(dictionary: PdfValue, data: Buffer): Buffer | null {
  const filters = filtersOf(dictionary);
  const parameters = entryOf(dictionary, "DecodeParms");
  if (filters?.length === 0) return data;
  if (filters?.join() !== "FlateDecode") return null;
  const packed = inflate(data, MAX_ENTRIES * 32);
  return packed && undoPredictor(packed, (key) => countOf(parameters, key));
}
