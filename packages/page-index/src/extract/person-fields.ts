import { type Kind, labelKind } from "./labels.ts";
import type { NamedPart, Piece } from "./page-pieces.ts";
import type { Linked } from "./page-text.ts";
import { isDegree, isTitle } from "./person-names.ts";

interface WrittenPhone {
  text: string;
  /** The lowest is the number to call: 0 for a phone, 1 without a label, 2 for a mobile; 3 is no phone. */
  rank: number;
}

const NUMBER =
  /(?<![\p{L}\d]|\d[.,/:-] ?)(?:\+|00|\(?0|\(\+?\d|\d)[\d\u00a0 ()/.‑–-]{4,24}\d(?: ?(?:ext|extension|x|app|DW|Dw|int)\.? ?\d{1,5})?(?![\p{L}\d])/gu;
/** Numbers that look like one without a label. */
const TYPICAL = /^(?:\+|00\d|\(?0[1-9]|\(\d{2,4}\)|\d{3}[-. ]\d{3}[-. ]\d{4}$|\d{2,4}(?:[ /-]\d{2,6}){1,4}$)/;
/** Numbers of registers, taxes, banks and rooms. */
const OTHER =
  /(?:HR[AB]|IBAN|BIC|BLZ|Konto\S*|VAT|UID|USt\S*|Steuer\S*|SIRE[TN]|NIP|REGON|KRS|KVK|BTW|CVR|CIF|NIF|IVA|I[ČC]O|DI[ČC]|ΑΦΜ|ИНН|ОГРН|КПП|PLZ|ZIP|room|raum|zimmer|ID|Nr)\.?\s*:?\s*$/iu;
const DATE = /^\d{4}[-/.]\d\d?[-/.]\d\d?$|^\d\d?[-/.]\d\d?[-/.]\d{2,4}$|^\d{4} ?[-–] ?\d{4}$/;

/** The phones of a text. @param kind What a label before the text says. @param isLinked Whether a link calls it. */
function phonesIn(text: string, kind: Kind | null, isLinked: boolean): WrittenPhone[] {
  const found: WrittenPhone[] = [];
  for (const { 0: written, index } of text.matchAll(NUMBER)) {
    const digits = written.replaceAll(/\D/g, "").length;
    if (digits < 6 || digits > 17 || DATE.test(written.trim())) continue;
    const before = /[^\d,;|•·()]*$/u.exec(text.slice(0, index))?.[0].trim() ?? "";
    const label =
      labelKind(before.replace(/^.*(?:\s(?=\S+$))/u, "")) ??
      labelKind(before) ??
      (/\p{L}/u.test(before) || !/^(?:phone|mobile|fax)$/.test(kind ?? "") ? null : kind);
    if (label === "phone") found.push({ text: written.trim(), rank: 0 });
    else if (label === "mobile") found.push({ text: written.trim(), rank: 2 });
    else if (
      label === null &&
      (isLinked ||
        (TYPICAL.test(written.trim()) &&
          digits > 7 &&
          (!/\p{L}$/u.test(before) || /^[+(0]/.test(written)) &&
          !OTHER.test(before)))
    )
      found.push({ text: written.trim(), rank: 1 });
  }
  return found;
}

/** The phone to call of the pieces; `null` without one. @param linked Numbers of links to call. */
export function phoneIn(pieces: readonly Piece[], linked: readonly Linked[]): string | null {
  const found = pieces.flatMap(({ text, kind, start, end }) =>
    phonesIn(
      text,
      kind,
      linked.some(({ at }) => at >= start - 2 && at <= end),
    ),
  );
  return found.toSorted((one, other) => one.rank - other.rank)[0]?.text ?? linked[0]?.value ?? null;
}

/** The position of a person in the pieces: announced, behind the name in its text, in a piece behind or before that. */
export function positionIn(pieces: readonly Piece[], part: NamedPart, at: number): string | null {
  const announced = pieces.find(({ kind, text }) => kind === "position" && /\p{L}/u.test(text));
  if (announced !== undefined) return trimmed(announced.text);
  const index = pieces.findIndex(({ start, end }) => part.start >= start && part.start < end);
  const own = pieces[index];
  const rest = own?.text.slice(part.end - own.start) ?? "";
  const inside = /^[\s)]*(?:[,、;:|–—•·/(（]|-\s)/.test(rest)
    ? rest.split(/[,、;|•·()（）]|\s[-–—]\s/).find(isPosition)
    : undefined;
  if (inside !== undefined) return trimmed(inside);
  const { firstName, lastName } = part.name;
  const others = pieces
    .map(withoutNumbers)
    .filter(
      ({ kind, isLabel, isLink, text }) =>
        kind === null &&
        !isLabel &&
        !isLink &&
        isPosition(text) &&
        !(text.includes(lastName) && text.includes(firstName)),
    );
  const behind = others.filter(({ start, text }) => start >= part.end && !text.endsWith(":"));
  const near = behind.find(({ start }) => start < Math.max(at, (own?.end ?? 0) + 3));
  const previous = others.find(
    ({ start, text }) => start === pieces[index - 1]?.start && (isTitle(text) || text.endsWith(":")),
  );
  const first = index === 1 ? others.find(({ start }) => start === pieces[0]?.start) : undefined;
  // `Engineer: Ada Lovelace`
  const [, lead = ""] =
    /^((?:\S+\s?){1,3}):\s*$/u.exec(own?.text.slice(0, part.start - own.start) ?? "") ?? [];
  if (lead !== "" && isPosition(lead) && !CONTACT.test(lead)) return trimmed(lead);
  const found = behind.find(({ text }) => isTitle(text)) ?? previous ?? near ?? first;
  return found === undefined ? null : trimmed(found.text);
}

/** `, Mathematician, +44 20 7946 0018` is a position before a phone. */
function withoutNumbers(piece: Piece): Piece {
  const text = /\d{3}/.test(piece.text)
    ? piece.text.split(/[,、;|•·()]|[–—]| - /).find(isPosition)
    : undefined;
  return text === undefined ? piece : { ...piece, text };
}

function trimmed(text: string): string {
  // A label whose word is unknown, too.
  return text.replace(/^[\s,;:|•·–—<-]+|[\s,;:|•·–—<-]+$/g, "").replace(/^\p{L}[^:]{1,28}:\s+(?=\p{L})/u, "");
}

function isPosition(text: string): boolean {
  const plain = text.trim();
  const words = plain.split(/\s+/).length;
  return (
    plain.length >= 2 &&
    plain.length <= 100 &&
    words <= 12 &&
    /\p{L}{2}/u.test(plain) &&
    !/\d{2}|https?:|www\.|@/.test(plain) &&
    !/[。！？]$|(?:\s\S+){3}[.!?]$/u.test(plain) &&
    labelKind(plain) === null &&
    !UI.test(plain.replace(/:$/, "")) &&
    !isDegree(plain)
  );
}

/** Words before the name of a contact. */
const CONTACT = /[ck]onta[ck]?t|ansprech|referen|info|frage|question|контакт|担当|連絡|yhteys|κοινων/iu;
const UI =
  /^(?:(?:read |learn |view |see )?(?:more|profile|bio|details?|website|vcard|download|contact|cv|mehr|weiter\w*|zum profil|e-?mail(?: protected)?|mail|send.*|schreib.*|linkedin|xing|twitter|facebook|instagram|x|in|teams?|kontakt|contatto|contacto))$/i;
