import { entryOf, nameOf, type PdfValue } from "./pdf-value.ts";

const standardKeys = new Set([
  ...["Title", "Author", "Subject", "Keywords", "Creator", "Producer", "CreationDate", "ModDate"],
]);

/**
 * Whether a value can be a document information dictionary. What a trailer points to is not always one: a later revision
 * may have given its number to something else.
 *
 * Source: ISO 32000-1, section 14.3.3.
 */
export function canBeInformation(value: PdfValue): boolean {
  if (value.kind !== "dictionary" || isPartOfDocument(value)) return false;
  const hasStandardKey = value.entries.some(({ key }) => standardKeys.has(key));
  const isText = value.entries.some((entry) => entry.value.kind === "string");
  return hasStandardKey || (isText && value.entries.every((entry) => entry.value.kind !== "dictionary"));
}

/** Whether a value is a document information dictionary by its looks, even if no trailer points to it any more. */
export function isInformation(value: PdfValue): boolean {
  if (value.kind !== "dictionary" || isPartOfDocument(value)) return false;
  const known = value.entries.filter((entry) => standardKeys.has(entry.key) && entry.value.kind === "string");
  return known.length >= 2;
}

/** Outline items have a title, too, and annotations a date. */
function isPartOfDocument(value: PdfValue): boolean {
  const type = nameOf(value, "Type");
  if (type !== undefined && type !== "Info") return true;
  return ["Parent", "Subtype", "Kids"].some((key) => entryOf(value, key) !== undefined);
}
