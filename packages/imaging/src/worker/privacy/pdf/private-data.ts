import { blankDictionary, blankObject } from "./blank-out.ts";
import { parsePdfValue } from "./parse-pdf-value.ts";
import type { PdfInventory, PdfObject } from "./pdf-inventory.ts";
import { entryOf, nameOf, type PdfValue, visitValues } from "./pdf-value.ts";
import { findUnshared, referencesIn } from "./unshared-objects.ts";

/** Objects already blanked, and objects to decide about when all are known. */
export interface PrivateData {
  gone: Set<PdfObject>;
  /** Numbers of objects that hold private data, unless other parts of the document use them. */
  suspects: Set<number>;
}

/**
 * Blanks the private data of an object: the whole object if it is an XMP stream or document information, else the data
 * under PieceInfo. Adds the references in that data to the suspects.
 */
export function blankPrivateData(
  object: PdfObject,
  value: PdfValue | null,
  { gone, suspects }: PrivateData,
): void {
  if (value === null) return;
  const isXmp = object.data !== null && nameOf(value, "Type") === "Metadata";
  if (isXmp || (object.data === null && isInformation(value))) {
    for (const number of isXmp ? [] : referencesIn(value)) suspects.add(number);
    blankObject(object, value);
    gone.add(object);
    return;
  }
  visitValues(value, (inner) => {
    const metadata = entryOf(inner, "Metadata");
    if (metadata?.kind === "reference") suspects.add(metadata.number);
    const pieces = entryOf(inner, "PieceInfo");
    if (pieces === undefined) return;
    for (const number of referencesIn(pieces)) suspects.add(number);
    if (pieces.kind === "dictionary") blankDictionary(object.host, pieces);
  });
}

/** Blanks the document information that trailers name, then objects referenced only by private data. */
export function blankSuspects(inventory: PdfInventory, { gone, suspects }: PrivateData): void {
  const information = new Set<number>();
  for (const trailer of inventory.trailers) {
    const entry = entryOf(trailer, "Info");
    if (entry?.kind === "reference") information.add(entry.number);
    else if (entry?.kind === "dictionary") blankDictionary(inventory.file, entry);
  }
  for (const object of inventory.objects) {
    if (!information.has(object.number) || object.data !== null || gone.has(object)) continue;
    const value = parsePdfValue(object.host.content, object.start);
    if (value !== null && !canBeInformation(value)) continue;
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
  const hasStandardKey = value.entries.some(({ key }) => standardKeys.has(key));
  const isText = value.entries.some((entry) => entry.value.kind === "string");
  return hasStandardKey || (isText && value.entries.every((entry) => entry.value.kind !== "dictionary"));
}

/** Whether a value looks like a document information dictionary, even if no trailer refers to it. */
function isInformation(value: PdfValue): boolean {
  if (value.kind !== "dictionary" || isPartOfDocument(value)) return false;
  const known = value.entries.filter((entry) => standardKeys.has(entry.key) && entry.value.kind === "string");
  return known.length >= 2;
}

/** Whether a value belongs to the document: outline items also have a title, and annotations a date. */
function isPartOfDocument(value: PdfValue): boolean {
  const type = nameOf(value, "Type");
  if (type !== undefined && type !== "Info") return true;
  return ["Parent", "Subtype", "Kids"].some((key) => entryOf(value, key) !== undefined);
}
