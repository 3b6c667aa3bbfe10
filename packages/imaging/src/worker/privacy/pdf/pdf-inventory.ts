import { unreadable } from "../../picture.ts";
import { Edits } from "../edits.ts";
import { parsePdfValue } from "./parse-pdf-value.ts";
import { type PdfBody, readHiddenObjects, readPdfParts } from "./pdf-objects.ts";
import { countOf, entryOf, type PdfValue, pdfNameAt, visitValues } from "./pdf-value.ts";
import { deflateToLength, filtersOf, inflate } from "./stream-filters.ts";

const TYPE = "application/pdf";
/** More objects than documents of a hundred megabytes have. */
const MAX_OBJECTS = 1_000_000;
/** Bytes that all object streams of a file may hold together. */
const MAX_INFLATED_BYTES = 128 * 1024 ** 2;

/** How often hidden objects may cover the bytes of a file. */
const MAX_HIDDEN_READINGS = 4;

/** Searching for the end of a broken object can scan the whole file, so a file of many would take minutes. */
const MAX_BROKEN_OBJECTS = 100;

/** The container of objects: the file itself, or an object stream. */
export interface PdfHost {
  content: Buffer;
  /** Changes to `content`. */
  edits: Edits;
}

/** An object without its value. A file may have a million objects, so values are parsed again when needed. */
export interface PdfObject extends Omit<PdfBody, "value"> {
  host: PdfHost;
}

/** The parts of a file. */
export interface PdfInventory {
  file: PdfHost;
  objects: PdfObject[];
  objectStreams: { number: number; stream: ObjectStream; start: number; end: number }[];
  /** The dictionaries of trailers and of cross-reference streams. */
  trailers: PdfValue[];
  /** The cross-reference streams, by the position of their header. */
  xrefStreams: Map<number, { dictionary: PdfValue; data: Buffer }>;
}

/** Receives each object. A broken object has the value `null`. */
type ObjectVisitor = (object: PdfObject, value: PdfValue | null) => void;

/**
 * Lists the objects of a file, including those in object streams, and calls `visit` for each. Returns `null` when some
 * cannot be read in place: the file is encrypted, badly damaged, or has an unusual object stream. Throws
 * `unsupported_media` for more objects than any document has.
 */
export function takePdfInventory(bytes: Buffer, visit: ObjectVisitor): PdfInventory | null {
  const file = { content: bytes, edits: new Edits(bytes, TYPE) };
  const inventory: PdfInventory = {
    file,
    objects: [],
    objectStreams: [],
    trailers: [],
    xrefStreams: new Map(),
  };
  let inflatableBytes = MAX_INFLATED_BYTES;
  let brokenObjects = 0;
  for (const part of readPdfParts(bytes)) {
    if (part.kind === "trailer") {
      inventory.trailers.push(part.value);
      continue;
    }
    if (part.value === null && ++brokenObjects > MAX_BROKEN_OBJECTS) return null;
    list(inventory, file, part, visit);
    if (part.value === null || part.data === null) continue;
    const { start, end } = part.data;
    const data = bytes.subarray(start, end);
    if (pdfNameAt(part.value, "Type") === "XRef") {
      inventory.trailers.push(part.value);
      inventory.xrefStreams.set(part.header, { dictionary: part.value, data });
    }
    if (!isObjectStream(part.value)) continue;
    const stream = openObjectStream(part.value, data, inflatableBytes);
    if (stream === null) return null;
    inflatableBytes -= stream.content.length;
    inventory.objectStreams.push({ number: part.number, stream, start, end });
    for (const body of stream.objects) list(inventory, stream, body, visit);
  }
  return inventory.trailers.some(isEncrypted) ? null : inventory;
}

/** Whether something inside a stream or a string looks like an object. */
export function hasHiddenObjects(inventory: PdfInventory): boolean {
  return readHidden(inventory).next().done !== true;
}

/**
 * Adds the objects inside streams and strings to the inventory, and calls `visit` for each. Edits of them are lost.
 * Returns `false` when they overlap so often that listing them would take too long.
 */
export function listHiddenObjects(inventory: PdfInventory, visit: ObjectVisitor): boolean {
  const { content } = inventory.file;
  const host = { content, edits: new Edits(content, TYPE) };
  let parsable = MAX_HIDDEN_READINGS * content.length;
  for (const body of readHidden(inventory)) {
    parsable -= body.end - body.start;
    if (parsable < 0) return false;
    list(inventory, host, body, visit);
  }
  return true;
}

function readHidden({ file, objects }: PdfInventory): Generator<PdfBody, void> {
  const known = new Set<number>();
  for (const { host, start } of objects) if (host === file) known.add(start);
  return readHiddenObjects(file.content, known);
}

/** Some readers do not ask for the type of an object stream. */
function isObjectStream(dictionary: PdfValue): boolean {
  const hasObjects = entryOf(dictionary, "N") !== undefined && entryOf(dictionary, "First") !== undefined;
  return hasObjects || pdfNameAt(dictionary, "Type") === "ObjStm";
}

function list(inventory: PdfInventory, host: PdfHost, body: PdfBody, visit: ObjectVisitor): void {
  if (inventory.objects.length === MAX_OBJECTS) {
    throw unreadable(TYPE, `it has more than ${MAX_OBJECTS} objects`);
  }
  const { number, header, start, end, data, isRegular, value } = body;
  // Spreading takes ten times as long.
  const object = { number, header, start, end, data, isRegular, host };
  inventory.objects.push(object);
  visit(object, value);
}

function isEncrypted(trailer: PdfValue): boolean {
  const encryption = entryOf(trailer, "Encrypt");
  return encryption?.kind === "reference" || encryption?.kind === "dictionary";
}

/** Writers usually put a hundred, some a few thousand objects into one stream. */
const MAX_PACKED_OBJECTS = 100_000;
/** How often all bytes together may be parsed. Objects of one stream overlap only in hostile files. */
const MAX_READINGS = 4;

/** An object stream. Its objects can be edited if it does not compress to more bytes than before. */
interface ObjectStream {
  content: Buffer;
  /** Changes to `content`. */
  edits: Edits;
  objects: PdfBody[];
  /** The data with the edits, at its old length; `null` when it does not fit. */
  pack(): Buffer | null;
}

/**
 * Opens an object stream of a file that is not encrypted. Returns `null` for compression other than Flate, damage, more
 * than `maxBytes`, more objects than any writer produces, or fewer than the stream declares.
 *
 * Source: ISO 32000-1, section 7.5.7.
 */
export function openObjectStream(dictionary: PdfValue, data: Buffer, maxBytes: number): ObjectStream | null {
  const content = unpack(dictionary, data, maxBytes);
  const first = countOf(dictionary, "First");
  const count = countOf(dictionary, "N");
  if (content === null || first === undefined || count === undefined || count > MAX_PACKED_OBJECTS)
    return null;
  const head = content.toString("latin1", 0, first);
  if (!/^[\d\s\0]*$/.test(head)) return null;
  const objects: PdfBody[] = [];
  let parsable = MAX_READINGS * content.length;
  for (const [, number, offset] of head.matchAll(/(\d+)[\s\0]+(\d+)/g)) {
    if (objects.length === count) break;
    const syntax = { isRegular: true };
    const value = parsePdfValue(content, first + Number(offset), syntax);
    if (value === null) return null;
    const { start, end } = value;
    parsable -= end - start;
    if (parsable < 0) return null;
    const { isRegular } = syntax;
    objects.push({ number: Number(number), header: start, start, end, value, data: null, isRegular });
  }
  if (objects.length < count) return null;
  const edits = new Edits(content, "application/pdf");
  const isCompressed = data !== content;
  return {
    content,
    edits,
    objects,
    pack() {
      const pieces = edits.apply();
      if (pieces === null) return data;
      const edited = Buffer.concat(pieces);
      return isCompressed ? deflateToLength(edited, data.length) : edited;
    },
  };
}

function unpack(dictionary: PdfValue, data: Buffer, maxBytes: number): Buffer | null {
  const filters = filtersOf(dictionary);
  if (filters?.length === 0) return data;
  const hasParameters = entryOf(dictionary, "DecodeParms") !== undefined;
  if (filters?.join() !== "FlateDecode" || hasParameters) return null;
  return inflate(data, maxBytes);
}

/** Keys whose values are removed, together with objects that only they refer to. */
const privateKeys = new Set(["Info", "Metadata", "PieceInfo"]);
/** Types of objects that belong to the document even if private data refer to them. */
const documentTypes = new Set(["Catalog", "Pages", "Page", "XRef", "ObjStm"]);

/**
 * The numbers of objects reachable from `roots` and from nowhere else in the document. Objects in `gone` do not count.
 */
export function findUnshared(
  { objects, trailers }: PdfInventory,
  roots: Iterable<number>,
  gone: ReadonlySet<PdfObject>,
): PdfObject[] {
  const present = objects.filter((object) => !gone.has(object));
  const byNumber = groupByNumber(present);
  const reached = reach(roots, byNumber, referencesOf, (number) => !isOfDocument(byNumber.get(number) ?? []));
  const outside = new Set(trailers.flatMap(referencesIn));
  for (const object of present) {
    if (!reached.has(object.number)) for (const number of referencesOf(object)) outside.add(number);
  }
  const shared = reach(outside, byNumber, referencesOf, (number) => reached.has(number));
  return present.filter(({ number }) => reached.has(number) && !shared.has(number));
}

/** All object numbers reachable from `roots` through numbers for which `isOpen` returns true. */
export function reach(
  roots: Iterable<number>,
  byNumber: ReadonlyMap<number, PdfObject[]>,
  referencesOf: (object: PdfObject) => number[],
  isOpen: (number: number) => boolean = () => true,
): Set<number> {
  const reached = new Set<number>();
  const waiting = [...roots];
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    if (reached.has(number) || !isOpen(number)) continue;
    reached.add(number);
    for (const object of byNumber.get(number) ?? []) {
      for (const reference of referencesOf(object)) waiting.push(reference);
    }
  }
  return reached;
}

export function groupByNumber(objects: readonly PdfObject[]): Map<number, PdfObject[]> {
  const groups = new Map<number, PdfObject[]>();
  for (const object of objects) {
    const group = groups.get(object.number);
    if (group === undefined) groups.set(object.number, [object]);
    else group.push(object);
  }
  return groups;
}

function isOfDocument(objects: readonly PdfObject[]): boolean {
  return objects.some((object) => documentTypes.has(pdfNameAt(parseObject(object), "Type") ?? ""));
}

function referencesOf(object: PdfObject): number[] {
  const value = parseObject(object);
  return value === null ? [] : referencesIn(value);
}

/** The numbers of the objects that a value refers to, except from private data. */
export function referencesIn(value: PdfValue): number[] {
  const numbers: number[] = [];
  visitValues(
    value,
    (inner) => {
      if (inner.kind === "reference") numbers.push(inner.number);
    },
    privateKeys,
  );
  return numbers;
}

function parseObject({ host, start }: PdfObject): PdfValue | null {
  return parsePdfValue(host.content, start);
}
