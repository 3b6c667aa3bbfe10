import { isDigit, isWordAt, skipSpace } from "./pdf-lexer.ts";
import type { PdfInventory, PdfObject } from "./pdf-inventory.ts";
import { parsePdfValue } from "./parse-pdf-value.ts";
import { countOf, entryOf, nameOf, type PdfValue } from "./pdf-value.ts";
import { type XrefEntry, readXrefStream, readXrefTable } from "./pdf-xref.ts";

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
  const sections = readSections(content, inFile);
  if (sections === null) return false;
  const headers = new Map(inFile.map(({ header, number }) => [header, number]));
  const packed = new Set(
    inventory.objectStreams.flatMap(({ number, stream }) =>
      stream.objects.map((object, index) => `${number} ${index} ${object.number}`),
    ),
  );
  const isKnown = ({ number, stream, place }: XrefEntry): boolean =>
    stream === null
      ? headers.get(skipSpace(content, place)) === number
      : packed.has(`${stream} ${place} ${number}`);
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
function readSections(bytes: Buffer, objects: readonly PdfObject[]): Map<number, Section> | null {
  const sections = new Map<number, Section>();
  let position = 0;
  for (const object of objects) {
    if (!readBetween(bytes, position, object.header, sections)) return null;
    position = object.end;
    if (object.data === null) continue;
    const dictionary = parsePdfValue(bytes, object.start);
    if (dictionary === null || nameOf(dictionary, "Type") !== "XRef") continue;
    const entries = readXrefStream(dictionary, bytes.subarray(object.data.start, object.data.end));
    if (entries !== null) sections.set(object.header, { entries, trailer: dictionary });
  }
  return readBetween(bytes, position, bytes.length, sections) ? sections : null;
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
