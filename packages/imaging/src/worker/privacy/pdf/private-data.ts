import { blankDictionary, blankEntry, blankObject } from "./blank-out.ts";
import { parsePdfValue } from "./parse-pdf-value.ts";
import { findUnshared, type PdfInventory, type PdfObject, referencesIn } from "./pdf-inventory.ts";
import { entryOf, type PdfDictionary, type PdfValue, pdfNameAt, visitValues } from "./pdf-value.ts";

/** Objects already blanked, and objects to decide about when all are known. */
export interface PrivateData {
  gone: Set<PdfObject>;
  /** Numbers of objects that hold private data, unless other parts of the document use them. */
  suspects: Set<number>;
  /** Numbers of strings that name the author of an annotation or describe an article thread. */
  authors: Set<number>;
  /** Numbers of objects that hold the information about an article thread, if they can be information. */
  threads: Set<number>;
}

/**
 * Blanks the private data of an object: the whole object if it is an XMP stream, document information or the file with Content Credentials, else the data
 * under PieceInfo, and authors of annotations and article threads. Adds the references in that data to the suspects.
 */
export function blankPrivateData(
  object: PdfObject,
  value: PdfValue | null,
  { gone, suspects, authors, threads }: PrivateData,
): void {
  if (value === null) return;
  const isXmp = object.data !== null && pdfNameAt(value, "Type") === "Metadata";
  // They sign the bytes of the document, and would not match what remains of it.
  const isManifest = pdfNameAt(value, "AFRelationship") === "C2PA_Manifest";
  if (isXmp || isManifest || (object.data === null && isInformation(value))) {
    for (const number of isXmp ? [] : referencesIn(value)) suspects.add(number);
    blankObject(object, value);
    gone.add(object);
    return;
  }
  visitValues(value, (inner) => {
    const metadata = entryOf(inner, "Metadata");
    if (metadata?.kind === "reference") suspects.add(metadata.number);
    if (inner.kind !== "dictionary") return;
    const authorKey = isMarkup(inner) ? "T" : isThread(inner) ? "I" : undefined;
    for (const entry of inner.entries) {
      const { key, value } = entry;
      if (key !== authorKey) continue;
      if (value.kind === "reference") (key === "T" ? authors : threads).add(value.number);
      if (key === "T") blankEntry(object.host, entry);
      else if (isThreadInformation(value)) {
        for (const number of referencesIn(value)) authors.add(number);
        blankDictionary(object.host, value);
      }
    }
    const pieces = entryOf(inner, "PieceInfo");
    if (pieces === undefined) return;
    for (const number of referencesIn(pieces)) suspects.add(number);
    if (pieces.kind === "dictionary") blankDictionary(object.host, pieces);
  });
}

/**
 * Whether a value can be an article thread, whose `I` has its title and author. Resources, glyphs and appearances may have
 * the same keys as names of their own.
 */
function isThread(value: PdfValue): boolean {
  return entryOf(value, "F")?.kind === "reference" && (pdfNameAt(value, "Type") ?? "Thread") === "Thread";
}

function isThreadInformation(value: PdfValue): value is PdfDictionary {
  return value.kind === "dictionary" && !isPartOfDocument(value) && hasStandardKey(value);
}

/** Whether a value is an annotation whose `T` names its author. In a form field it names the field. */
function isMarkup(value: PdfValue): boolean {
  const subtype = pdfNameAt(value, "Subtype") ?? "Widget";
  const isAnnotation = entryOf(value, "Rect") !== undefined || pdfNameAt(value, "Type") === "Annot";
  return subtype !== "Widget" && isAnnotation && entryOf(value, "FT") === undefined;
}

/** Blanks the document information that trailers name, and authors, then objects referenced only by private data. */
export function blankSuspects(
  inventory: PdfInventory,
  { gone, suspects, authors, threads }: PrivateData,
): void {
  const information = new Set<number>();
  for (const trailer of inventory.trailers) {
    const entry = entryOf(trailer, "Info");
    if (entry?.kind === "reference") information.add(entry.number);
    else if (entry?.kind === "dictionary") blankDictionary(inventory.file, entry);
  }
  for (const object of inventory.objects) {
    const { number, host, start } = object;
    const isNamed = information.has(number) || authors.has(number) || threads.has(number);
    if (!isNamed || object.data !== null || gone.has(object)) continue;
    const value = parsePdfValue(host.content, start);
    const isPrivate =
      (authors.has(number) && value?.kind === "string") ||
      (threads.has(number) && value !== null && isThreadInformation(value)) ||
      (information.has(number) && (value === null || canBeInformation(value)));
    if (!isPrivate) continue;
    for (const number of value === null ? [] : referencesIn(value)) suspects.add(number);
    blankObject(object, value);
    gone.add(object);
  }
  for (const { number } of gone) suspects.delete(number);
  if (suspects.size === 0) return;
  for (const object of findUnshared(inventory, suspects, gone)) {
    blankObject(object, parsePdfValue(object.host.content, object.start));
  }
}

const standardKeys = new Set([
  ...["Title", "Author", "Subject", "Keywords", "Creator", "Producer", "CreationDate", "ModDate"],
]);

/**
 * Whether a value can be a document information dictionary. The object named by a trailer need not be one: a later
 * revision may have reused its number.
 *
 * Source: ISO 32000-1, section 14.3.3.
 */
function canBeInformation(value: PdfValue): boolean {
  if (value.kind !== "dictionary" || isPartOfDocument(value)) return false;
  const isText = value.entries.some((entry) => entry.value.kind === "string");
  return (
    hasStandardKey(value) || (isText && value.entries.every((entry) => entry.value.kind !== "dictionary"))
  );
}

function hasStandardKey({ entries }: PdfDictionary): boolean {
  return entries.some(({ key }) => standardKeys.has(key));
}

/** Whether a value looks like a document information dictionary, even if no trailer refers to it. */
function isInformation(value: PdfValue): boolean {
  if (value.kind !== "dictionary" || isPartOfDocument(value)) return false;
  const known = value.entries.filter((entry) => standardKeys.has(entry.key) && entry.value.kind === "string");
  return known.length >= 2;
}

/** Whether a value belongs to the document: outline items also have a title, and annotations a date. */
function isPartOfDocument(value: PdfValue): boolean {
  const type = pdfNameAt(value, "Type");
  if (type !== undefined && type !== "Info") return true;
  return ["Parent", "Subtype", "Kids"].some((key) => entryOf(value, key) !== undefined);
}
