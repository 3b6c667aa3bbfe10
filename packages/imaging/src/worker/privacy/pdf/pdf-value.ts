/** The position of a value. */
interface Span {
  start: number;
  end: number;
}

export interface PdfDictionary extends Span {
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

export interface PdfArray extends Span {
  kind: "array";
  items: PdfValue[];
}

/** A reference to an indirect object. Generations are ignored. */
export interface PdfReference extends Span {
  kind: "reference";
  number: number;
}

/** A name, without its slash. */
export interface PdfName extends Span {
  kind: "name";
  text: string;
}

export interface PdfNumber extends Span {
  kind: "number";
  value: number;
}

/** A value without values inside: a string, or a word such as `true`. */
export interface PdfOther extends Span {
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
export function pdfNameAt(value: PdfValue | null | undefined, key: string): string | undefined {
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

const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

/**
 * The bytes of a string, as Latin-1 text; of a string in UTF-16, its text.
 *
 * Source: ISO 32000-1, sections 7.3.4 and 7.9.2.
 */
export function pdfText(bytes: Buffer, { start, end }: PdfOther): string {
  const inner = bytes.toString("latin1", start + 1, end - 1);
  const text = bytes[start] === 0x3c ? fromHex(inner) : unescapeText(inner);
  if (!text.startsWith("\xfe\xff")) return text.startsWith("\xef\xbb\xbf") ? text.slice(3) : text;
  const units = Buffer.from(text.slice(2, text.length - (text.length % 2)), "latin1");
  return units.swap16().toString("utf16le");
}

function fromHex(inner: string): string {
  const digits = inner.replace(/[^0-9a-f]/gi, "");
  return Buffer.from(digits + "0".repeat(digits.length % 2), "hex").toString("latin1");
}

function unescapeText(inner: string): string {
  return inner.replace(/\r\n?/g, "\n").replace(/\\([0-7]{1,3}|.)/gs, (_, escaped: string) => {
    if (/^[0-7]/.test(escaped)) return String.fromCharCode(Number.parseInt(escaped, 8) & 0xff);
    return escaped === "\n" ? "" : (escapes[escaped] ?? escaped);
  });
}
