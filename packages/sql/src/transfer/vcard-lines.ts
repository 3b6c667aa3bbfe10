import { isEncoding } from "./file-encoding.ts";
import { type BadLine, type FileRow, MAX_LINE_LENGTH, type RowReader } from "./file-line.ts";
import { textLines } from "./text-lines.ts";

/** Longer values are pictures and keys: the property is left out. */
const MAX_VALUE_LENGTH = 16_384;
/** Further values of a property: the others are left out. */
const MAX_VALUES = 20;
/** A value of vCard 2.1 whose line ends with `=` continues in the next one. */
const SOFT_BREAK = /^[^:]*;(?:ENCODING=)?QUOTED-PRINTABLE[^:]*:.*=$/is;
/** A property: its group, name, parameters and value. */
const PROPERTY = /^(?:[\w-]+\.)?([\w-]+)((?:;(?:"[^"]*"|[^":])*)?):(.*)$/s;
/** Properties that say nothing about a person. */
const TECHNICAL =
  /^(?:BEGIN|END|VERSION|PRODID|UID|REV|SOURCE|PHOTO|LOGO|SOUND|KEY|LABEL|X-(?!SOCIALPROFILE).*)$/;
const NO_PHONE = /\b(?:fax|pager|modem|bbs)\b/i;
/** Kinds of addresses and phones, the best first. */
const KINDS = [/\bwork\b/i, /\b(?:cell|iphone)\b/i, /^(?!.*\bhome\b)/is, /^/];

/** Reads vCard 2.1 (RFC 2426 §5), 3.0 and 4.0 (RFC 6350): each card is a row whose columns are its properties. */
export const readVcards: RowReader = async function* (input) {
  /** The unfolded lines of the open card. */
  let card: string[] = [];
  let [number, start, length] = [0, 0, 0];

  function read(text: string): FileRow | BadLine | null {
    number++;
    if (/^BEGIN:VCARD\s*$/i.test(text)) {
      const open = card.length === 0 ? null : { line: start, reason: "truncated" as const };
      [card, start, length] = [[text], number, 0];
      return open;
    }
    const last = card.at(-1);
    if (last === undefined) return null;
    // RFC 6350 §3.2: a line that starts with white space continues the one before, unless it is blank.
    const isFolded = /^[ \t]+\S/.test(text);
    const isContinued = isFolded || (last.endsWith("=") && SOFT_BREAK.test(last));
    if (isContinued && last.length > MAX_VALUE_LENGTH) return null;
    const whole = isContinued && (isFolded ? last + text.slice(1) : last.slice(0, -1) + text);
    if (whole !== false) card[card.length - 1] = whole;
    else if (length <= MAX_LINE_LENGTH) card.push(text.slice(0, MAX_VALUE_LENGTH + 1));
    length += Math.min(text.length, MAX_VALUE_LENGTH);
    if (!/^END:VCARD\s*$/i.test(text)) return null;
    const lines = card;
    card = [];
    if (length > MAX_LINE_LENGTH) return { line: start, reason: "too_long" };
    if (!lines.some((each) => /^VERSION:/i.test(each))) return { line: start, reason: "vcard" };
    const values = Object.entries(columnsOf(lines));
    return { line: start, columns: values.map(([name]) => name), cells: values.map(([, value]) => value) };
  }

  for await (const { lines } of textLines(input)) yield lines.map(read).filter((row) => row !== null);
  if (card.length > 0) yield [{ line: start, reason: "truncated" }];
};

interface Property {
  name: string;
  parameters: string;
  /** As written. */
  value: string;
}

/** The texts of a card by the names of its properties. A second one gets a number, as `EMAIL 2`. */
function columnsOf(lines: readonly string[]): Record<string, string> {
  const columns: Record<string, string> = {};
  const counts = new Map<string, number>();

  function add(name: string, written: string): void {
    const count = (counts.get(name) ?? 0) + 1;
    const value = written.replaceAll(/\\(.)/gs, (_, sign: string) => (/n/i.test(sign) ? "\n" : sign)).trim();
    if (value === "" || count > MAX_VALUES) return;
    counts.set(name, count);
    columns[count === 1 ? name : `${name} ${count}`] = value;
  }

  for (const { name, parameters, value } of lines.flatMap(propertyIn).sort((a, b) => rankOf(a) - rankOf(b))) {
    const text = decodedValue(parameters, value);
    const [first = "", second = ""] = text.split(/(?<!(?<!\\)\\);/);
    if (name === "N") {
      add("Family name", first);
      add("Given name", second);
    } else add(name, name === "ORG" ? first : text.replace(/^(?:mailto|tel):/i, ""));
  }
  // The card of a company: its name is no person's.
  if (columns.FN === columns.ORG) delete columns.FN;
  return columns;
}

function propertyIn(line: string): Property[] {
  const [, written = "", parameters = "", value = ""] = PROPERTY.exec(line) ?? [];
  const name = written.toUpperCase();
  const isUsed = name !== "" && !TECHNICAL.test(name) && !(name === "TEL" && NO_PHONE.test(parameters));
  return isUsed && line.length <= MAX_VALUE_LENGTH ? [{ name, parameters, value }] : [];
}

/** The preferred address first, and the phone of work, then the mobile one. Others keep their order. */
function rankOf({ name, parameters }: Property): number {
  if (name !== "TEL" && name !== "EMAIL") return 0;
  const [isPreferred, number = 1] = /\bpref(?:="?(\d+))?\b/i.exec(parameters) ?? [];
  const preference = isPreferred === undefined ? 101 : Number(number);
  const kind = KINDS.findIndex((each) => each.test(parameters));
  return name === "TEL" ? kind * 1000 + preference : preference * 10 + kind;
}

/** The value, decoded if it is quoted-printable text (RFC 2045) of vCard 2.1. */
function decodedValue(parameters: string, value: string): string {
  if (!/quoted-printable/i.test(parameters)) return value;
  const [, charset = "utf-8"] = /charset="?([^;"]+)/i.exec(parameters) ?? [];
  const isNamed = isEncoding(charset) && !/^utf-?8$/i.test(charset);
  const codes = Buffer.from(value, isNamed ? "latin1" : "utf8")
    .toString("latin1")
    .replaceAll(/=([\dA-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  // A byte of another encoding becomes U+FFFD, and its line is bad.
  return new TextDecoder(isNamed ? charset : "utf-8").decode(Buffer.from(codes, "latin1"));
}
