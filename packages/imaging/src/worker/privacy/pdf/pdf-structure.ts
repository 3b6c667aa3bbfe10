import { parsePdfValue } from "./parse-pdf-value.ts";
import type { PdfInventory, PdfObject } from "./pdf-inventory.ts";
import { isDigit, isWordAt, skipSpace } from "./pdf-lexer.ts";
import type { PdfBody } from "./pdf-objects.ts";
import { countOf, entryOf, type PdfValue } from "./pdf-value.ts";
import { readXrefStream, readXrefTable, type XrefEntry } from "./pdf-xref.ts";

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
