import { Code, endOfWord, isDigit, isWordAt, skipSpace } from "./pdf-lexer.ts";
import { countOf, entryOf, type PdfValue } from "./pdf-value.ts";
import { filtersOf, inflate } from "./stream-filters.ts";
import { undoPredictor } from "./undo-predictor.ts";

/** The place of an object that is in use. */
export interface XrefEntry {
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
export function readXrefTable(bytes: Buffer, position: number): { entries: XrefEntry[]; end: number } | null {
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
export function readXrefStream(dictionary: PdfValue, data: Buffer): XrefEntry[] | null {
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
