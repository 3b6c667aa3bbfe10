/// <reference path="./vcf.d.ts" />
import VCard from "vcf";
import type { FieldMapping } from "./contact-fields.ts";
import { isEncoding } from "./file-encoding.ts";
import { type BadLineReason, type FileLine, type LineReports, MAX_LINE_LENGTH } from "./file-line.ts";
import { numbered, ObjectLines } from "./object-lines.ts";
import { type TextLine, unfoldedLines } from "./unfolded-lines.ts";

type Property = Exclude<VCard["data"][string], unknown[]>;

/**
 * Reads vCard 2.1 (RFC 2426 §5), 3.0 and 4.0 (RFC 6350): each card is a line whose columns are its properties.
 */
export async function* readVcards(
  input: AsyncIterable<string>,
  mapping: FieldMapping,
  reports: LineReports,
): AsyncGenerator<FileLine[]> {
  const objects = new ObjectLines(mapping, reports);
  /** Empty outside of a card. */
  let card: TextLine[] = [];
  let length = 0;

  function read(line: TextLine): FileLine | null {
    if (/^BEGIN:VCARD\s*$/i.test(line.text)) {
      reject("truncated");
      [card, length] = [[line], 0];
      return null;
    }
    const [start] = card;
    if (start === undefined) return null;
    length += line.text.length + 2;
    if (length <= MAX_LINE_LENGTH) card.push(line);
    if (!/^END:VCARD\s*$/i.test(line.text)) return null;
    const parsed = length > MAX_LINE_LENGTH ? null : parse(card.map(({ text }) => text).join("\r\n"));
    if (parsed === null) reject(length > MAX_LINE_LENGTH ? "too_long" : "vcard");
    card = [];
    return parsed === null ? null : objects.line(columnsOf(parsed), start.line);
  }

  function reject(reason: BadLineReason): void {
    const [start] = card;
    if (start !== undefined) reports.onBad({ line: start.line, reason });
  }

  for await (const lines of unfoldedLines(input)) {
    const cards = lines.map(read).filter((line) => line !== null);
    if (cards.length > 0) yield cards;
  }
  reject("truncated");
}

function parse(text: string): VCard | null {
  try {
    return new VCard().parse(text);
  } catch {
    // The caller reports a bad line.
    return null;
  }
}

/** Properties that say nothing about a person. */
const TECHNICAL = /^(?:version|prodid|uid|rev|source|photo|logo|sound|key|label|x(?!Socialprofile).*)$/;
const NO_PHONE = /\b(?:fax|pager|modem|bbs)\b/;

/** The texts of a card by the names of its properties. */
function columnsOf({ data }: VCard): Record<string, string> {
  const values: [name: string, value: string][] = [];
  for (const [name, given] of Object.entries(data)) {
    if (TECHNICAL.test(name)) continue;
    const properties = [given].flat().filter((each) => each instanceof VCard.Property);
    const isPhone = name === "tel";
    if (isPhone || name === "email") properties.sort((a, b) => rankOf(a, isPhone) - rankOf(b, isPhone));
    for (const property of properties) {
      if (isPhone && NO_PHONE.test(typesOf(property))) continue;
      const text = decodedValue(property);
      const [first = "", second = ""] = text.split(/(?<!(?<!\\)\\);/).map(unescaped);
      if (name === "n") values.push(["Family name", first], ["Given name", second]);
      else if (name === "org") values.push(["ORG", first]);
      else values.push([name.toUpperCase(), unescaped(text.replace(/^(?:mailto|tel):/i, ""))]);
    }
  }
  const columns = numbered(values);
  // The card of a company: its name is no person's.
  if (columns.FN === columns.ORG) delete columns.FN;
  return columns;
}

function typesOf({ type = [] }: Property): string {
  return [type].flat().join(" ");
}

/** The preferred address first, and the phone of work, then the mobile one. */
function rankOf(property: Property, isPhone: boolean): number {
  const types = typesOf(property);
  const preference = /\bpref\b/.test(types) ? 1 : Number(property.pref ?? 101) || 101;
  const kinds = [/\bwork\b/, /\b(?:cell|iphone)\b/, /^(?!.*\bhome\b)/, /^/];
  const kind = kinds.findIndex((each) => each.test(types));
  return isPhone ? kind * 1000 + preference : preference * 10 + kind;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/gs, (_, sign: string) => (/n/i.test(sign) ? "\n" : sign)).trim();
}

/** The value, decoded if it is quoted-printable text (RFC 2045) of vCard 2.1. */
function decodedValue(property: Property): string {
  const text = property._data ?? "";
  if (!/quoted-printable/i.test(`${property.encoding} ${typesOf(property)}`)) return text;
  const { charset = "utf-8" } = property;
  const isNamed = isEncoding(charset) && !/^utf-?8$/i.test(charset);
  const codes = Buffer.from(text, isNamed ? "latin1" : "utf8")
    .toString("latin1")
    .replaceAll(/=([\dA-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  // A byte of another encoding becomes U+FFFD, and its line is bad.
  return new TextDecoder(isNamed ? charset : "utf-8").decode(Buffer.from(codes, "latin1"));
}
