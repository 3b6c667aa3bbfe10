/** The position of a value. */
interface Place {
  start: number;
  end: number;
}

export interface PdfDictionary extends Place {
  kind: "dictionary";
  /** Entries in order, duplicates included. Names are decoded, without the slash. */
  entries: PdfEntry[];
}

export interface PdfEntry {
  key: string;
  /** The position of the key. */
  start: number;
  value: PdfValue;
}

export interface PdfArray extends Place {
  kind: "array";
  items: PdfValue[];
}

/** A reference to an indirect object. Generations are ignored. */
export interface PdfReference extends Place {
  kind: "reference";
  number: number;
}

/** A name, without its slash. */
export interface PdfName extends Place {
  kind: "name";
  text: string;
}

export interface PdfNumber extends Place {
  kind: "number";
  value: number;
}

/** A value without values inside: a string, or a word such as `true`. */
export interface PdfOther extends Place {
  kind: "string" | "word";
}

/** An object of the PDF syntax. Source: ISO 32000-1, section 7.3. */
export type PdfValue = PdfDictionary | PdfArray | PdfReference | PdfName | PdfNumber | PdfOther;

/** The last value at `key` of a dictionary, as in readers; `undefined` if `value` is not a dictionary. */
export function entryOf(value: PdfValue | null | undefined, key: string): PdfValue | undefined {
  if (value?.kind !== "dictionary") return undefined;
  return value.entries.findLast((entry) => entry.key === key)?.value;
}

/** The name at `key` of a dictionary. */
export function nameOf(value: PdfValue | null | undefined, key: string): string | undefined {
  const entry = entryOf(value, key);
  return entry?.kind === "name" ? entry.text : undefined;
}

/** The whole number, at least 0, at `key` of a dictionary. */
export function countOf(value: PdfValue | null | undefined, key: string): number | undefined {
  const entry = entryOf(value, key);
  return entry?.kind === "number" && Number.isInteger(entry.value) && entry.value >= 0
    ? entry.value
    : undefined;
}

/** Calls `visit` with a value and all values inside it, except those at keys in `without`. */
export function visitValues(
  value: PdfValue,
  visit: (value: PdfValue) => void,
  without: ReadonlySet<string> = new Set(),
): void {
  visit(value);
  if (value.kind === "array") for (const item of value.items) visitValues(item, visit, without);
  if (value.kind !== "dictionary") return;
  for (const entry of value.entries) if (!without.has(entry.key)) visitValues(entry.value, visit, without);
}
