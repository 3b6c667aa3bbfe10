import type { PdfHost, PdfObject } from "./pdf-inventory.ts";
import type { PdfDictionary, PdfEntry, PdfName, PdfValue } from "./pdf-value.ts";

/**
 * Replaces an object with an empty value, padded with spaces to its old length, so that nothing else in the file moves.
 * Numbers and names hold no private data and stay.
 */
export function blankObject({ host, start, end, data }: PdfObject, value: PdfValue | null): void {
  // `null` works as well as an empty stream, and is shorter.
  const empty = data === null ? emptyOf(value) : " null";
  if (empty !== undefined) host.edits.replace(start, end, pad(empty, end - start));
}

/** Replaces a dictionary inside another value with an empty one. */
export function blankDictionary(host: PdfHost, { start, end }: PdfDictionary): void {
  host.edits.replace(start, end, pad("<<>>", end - start));
}

/** Replaces an entry of a dictionary with spaces. */
export function blankEntry(host: PdfHost, { start, value }: PdfEntry): void {
  host.edits.replace(start, value.end, pad("", value.end - start));
}

/** Replaces a name. Returns `false`, and keeps it, when the new one is longer. */
export function replaceName(host: PdfHost, { start, end }: PdfName, name: string): boolean {
  const fits = end - start > name.length;
  if (fits) host.edits.replace(start, end, pad(`/${name}`, end - start));
  return fits;
}

/** An empty value of the same kind, which needs no space before it. */
function emptyOf(value: PdfValue | null): string | undefined {
  switch (value?.kind ?? "dictionary") {
    case "dictionary":
      return "<<>>";
    case "string":
      return "()";
    case "array":
      return "[]";
    default:
      return undefined;
  }
}

function pad(text: string, length: number): Buffer {
  const padded = Buffer.alloc(length, " ");
  padded.write(text, "latin1");
  return padded;
}
