import {
  PDFArray,
  type PDFContext,
  PDFDict,
  PDFHexString,
  PDFName,
  PDFNumber,
  type PDFObject,
  PDFObjectParser,
  PDFRawStream,
  PDFRef,
  PDFString,
} from "./library.ts";

/** Finds the object that a reference leads to. Any other value stands for itself. */
export type Resolve = (value: PDFObject | undefined) => PDFObject | undefined;

/** A string, or a name with a number sign that is written as the escape `#23`. */
const ESCAPED = /\((?:[^\\)]|\\.)*\)|\/[^\s()<>[\]{}/%]*#23[^\s()<>[\]{}/%]*/gs;

/** Parses the value at the start of `bytes`. Throws for a broken one. */
export function parseValue(bytes: Buffer, context: PDFContext): PDFObject {
  return PDFObjectParser.forBytes(withDoubleEscapes(bytes), context).parseObject();
}

/** The library unescapes a name twice, so that `#2341` would become an A. */
function withDoubleEscapes(bytes: Buffer): Buffer {
  const end = bytes.indexOf("stream\r\n");
  const head = end === -1 ? bytes : bytes.subarray(0, end);
  if (!head.includes("#23")) return bytes;
  const escaped = head.toString("latin1").replace(ESCAPED, (token) => {
    return token.startsWith("/") ? token.replaceAll("#23", "#2323") : token;
  });
  return Buffer.concat([Buffer.from(escaped, "latin1"), bytes.subarray(head.length)]);
}

/** The entry at `key` of a dictionary or a stream. */
export function entryOf(value: PDFObject | undefined, key: string): PDFObject | undefined {
  return dictionaryOf(value)?.get(PDFName.of(key));
}

export function dictionaryOf(value: PDFObject | undefined): PDFDict | undefined {
  if (value instanceof PDFRawStream) return value.dict;
  return value instanceof PDFDict ? value : undefined;
}

/** The text of a name; `undefined` for any other value. */
export function nameOf(value: PDFObject | undefined): string | undefined {
  return value instanceof PDFName ? value.asString().slice(1) : undefined;
}

export function itemsOf(value: PDFObject | undefined): PDFObject[] {
  return value instanceof PDFArray ? value.asArray() : [];
}

export function numberOf(value: PDFObject | undefined): number | undefined {
  return value instanceof PDFNumber ? value.asNumber() : undefined;
}

export function isText(value: PDFObject | undefined): value is PDFString | PDFHexString {
  return value instanceof PDFString || value instanceof PDFHexString;
}

/** A value in PDF syntax. Calls `refer` with each reference and writes what that returns. */
export function inSyntax(value: PDFObject, refer: (reference: PDFRef) => string): string {
  if (value instanceof PDFRef) return refer(value);
  if (value instanceof PDFArray) {
    return `[${joined(value.asArray().map((item) => inSyntax(item, refer)))}]`;
  }
  if (!(value instanceof PDFDict)) return value.toString();
  const entries = value.entries().map(([key, entry]): [string, PDFObject] => [key.asString(), entry]);
  // Sorted, as PDFium saves them: a file that was cleaned is written as it was.
  const sorted = entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `<<${joined(sorted.flatMap(([key, entry]) => [key, inSyntax(entry, refer)]))}>>`;
}

/** Tokens with a space where two would become one. */
function joined(tokens: readonly string[]): string {
  const isLoose = (token: string | undefined): boolean => /[^\])>]$/.test(token ?? "]");
  return tokens
    .map((token, index) => (/^[^/([<]/.test(token) && isLoose(tokens[index - 1]) ? ` ${token}` : token))
    .join("");
}
