import type { PdfHost, PdfObject } from "./pdf-inventory.ts";
import type { PdfDictionary, PdfValue } from "./pdf-value.ts";

/**
 * Puts an empty value in the place of an object, with spaces to its old length: nothing else in the file moves. Numbers
 * and names tell nothing and stay.
 */
export function blankObject({ host, start, end, data }: PdfObject, value: PdfValue | null): void {
  // A stream that is missing is as good as an empty one, and shorter.
  const empty = data === null ? emptyOf(value) : " null";
  if (empty !== undefined) host.edits.replace(start, end, pad(empty, end - start));
}

/** Puts an empty dictionary in the place of one that stands in another value. */
export function blankDictionary(host: PdfHost, { start, end }: PdfDictionary): void {
  host.edits.replace(start, end, pad("<<>>", end - start));
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
