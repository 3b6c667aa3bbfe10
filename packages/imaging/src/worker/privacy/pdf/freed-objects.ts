import { PDFContext, PDFRawStream } from "./library.ts";
import { entryOf, itemsOf, numberOf, parseValue } from "./pdf-values.ts";
import { decodeStream, filtersOf } from "./stream-filters.ts";

/** Revisions that are looked at. */
const MAX_REVISIONS = 200;
const MAX_ROW_BYTES = 32 * 1024 ** 2;
const FREE = 0;

/**
 * The numbers of the objects that a later revision freed. PDFium ignores that they are free, and other readers do not. Empty for a
 * file whose tables cannot be followed, and for a hybrid one, which calls objects free that are in object streams.
 *
 * Source: ISO 32000-1, sections 7.5.4 and 7.5.8.
 */
export function freedObjects(bytes: Buffer): Set<number> {
  const states = new Map<number, boolean>();
  const tail = bytes.toString("latin1", Math.max(0, bytes.lastIndexOf("startxref")));
  const header = Math.max(0, bytes.subarray(0, 1024).indexOf("%PDF-"));
  let next: number | undefined = Number(/startxref\s+(\d+)/.exec(tail)?.[1] ?? Number.NaN);
  for (let revision = 0; next !== undefined && revision < MAX_REVISIONS; revision++) {
    const section = readSection(bytes.subarray(header), next);
    if (section === null) return new Set();
    for (const [number, isFree] of section.entries) if (!states.has(number)) states.set(number, isFree);
    next = section.previous;
  }
  return new Set([...states].flatMap(([number, isFree]) => (isFree ? [number] : [])));
}

interface Section {
  entries: [number: number, isFree: boolean][];
  previous: number | undefined;
}

function readSection(bytes: Buffer, position: number): Section | null {
  if (!(position < bytes.length)) return null;
  const start = bytes.subarray(position).toString("latin1", 0, 64);
  if (/^\s*xref/.test(start)) return readTable(bytes, position);
  const head = /^\s*\d+\s+\d+\s+obj/.exec(start)?.[0].length;
  return head === undefined ? null : readStream(bytes.subarray(position + head));
}

function readTable(bytes: Buffer, position: number): Section | null {
  const end = bytes.indexOf("trailer", position);
  const last = bytes.indexOf("startxref", end);
  if (end === -1 || last === -1) return null;
  const trailer = bytes.toString("latin1", end, last);
  if (trailer.includes("/XRefStm")) return null;
  const entries: Section["entries"] = [];
  let number = 0;
  const table = bytes.toString("latin1", position, end);
  for (const [, first, second, kind] of table.matchAll(/(\d+)\s+(\d+)(?:\s+([nf])\b)?/g)) {
    if (kind === undefined) number = Number(first);
    else entries.push([number++, kind === "f" && second !== undefined]);
  }
  const previous = /\/Prev\s+(\d+)/.exec(trailer)?.[1];
  return { entries, previous: previous === undefined ? undefined : Number(previous) };
}

function readStream(bytes: Buffer): Section | null {
  const stream = parsed(bytes);
  const filters = stream && filtersOf(stream, (same) => same);
  if (!(stream instanceof PDFRawStream) || !filters) return null;
  const budget = { bytes: MAX_ROW_BYTES, maxBytes: MAX_ROW_BYTES };
  const rows = decodeStream(Buffer.from(stream.contents), filters, { budget, resolve: (same) => same });
  const [type = 0, place = 0, rest = 0] = itemsOf(entryOf(stream, "W")).map((width) => numberOf(width) ?? 0);
  const row = type + place + rest;
  if (rows === null || row === 0) return null;
  const index = itemsOf(entryOf(stream, "Index")).map((item) => numberOf(item) ?? 0);
  const runs = index.length === 0 ? [0, numberOf(entryOf(stream, "Size")) ?? 0] : index;
  const entries: Section["entries"] = [];
  let at = 0;
  for (let run = 0; run + 1 < runs.length; run += 2) {
    const [first = 0, count = 0] = runs.slice(run, run + 2);
    for (let number = first; number < first + count && at + row <= rows.length; number++, at += row) {
      // Without its field, the type is that of an object in use.
      entries.push([number, type > 0 && rows[at + type - 1] === FREE]);
    }
  }
  return { entries, previous: numberOf(entryOf(stream, "Prev")) };
}

function parsed(bytes: Buffer) {
  try {
    return parseValue(bytes, PDFContext.create());
  } catch {
    // No object.
    return null;
  }
}
