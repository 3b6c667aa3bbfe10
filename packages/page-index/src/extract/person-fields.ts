import { type Kind, labelKind } from "./labels.ts";
import type { NamedPart } from "./page-names.ts";
import type { Piece } from "./page-text.ts";
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

/** The phone to call of the pieces; `null` without one. */
export function phoneIn(pieces: readonly Piece[]): string | null {
  const found = pieces.flatMap(({ text, kind }, index) =>
    phonesIn(text, kind, pieces[index - 1]?.phone !== null && pieces[index - 1] !== undefined),
  );
  const linked = pieces.find(({ phone }) => phone !== null)?.phone;
  return found.toSorted((one, other) => one.rank - other.rank)[0]?.text ?? linked ?? null;
}

/**
 * The position of a person in the pieces: announced, behind the name in its text, in a piece behind or before that.
 * @param at The piece behind the address.
 */
export function positionIn(pieces: readonly Piece[], part: NamedPart, at: number): string | null {
  const announced = pieces.find(({ kind, text }) => kind === "position" && /\p{L}/u.test(text));
  if (announced !== undefined) return trimmed(announced.text);
  const texts = pieces.filter(({ text }) => text !== "");
  const place = texts.findIndex(({ index }) => index === part.index);
  const own = texts[place]?.text ?? "";
  const rest = own.slice(part.end);
  const inside = /^[\s)]*(?:[,、;:|–—•·/(（]|-\s)/.test(rest)
    ? rest.split(/[,、;|•·()（）]|\s[-–—]\s/).find(isPosition)
    : undefined;
  if (inside !== undefined) return trimmed(inside);
  // `Engineer: Ada Lovelace`
  const [, lead = ""] = /^((?:\S+\s?){1,3}):\s*$/u.exec(own.slice(0, part.start)) ?? [];
  if (lead !== "" && isPosition(lead) && !CONTACT.test(lead)) return trimmed(lead);
  const { firstName, lastName } = part.name;
  const others = texts.flatMap((piece) => {
    const text = positionOf(piece);
    const isName = text === null || (text.includes(lastName) && text.includes(firstName));
    return isName || piece.index === part.index ? [] : [{ index: piece.index, text }];
  });
  const behind = others.filter(({ index, text }) => index > part.index && !text.endsWith(":"));
  const near = behind.find(({ index }) => index < at || index === texts[place + 1]?.index);
  const previous = others.find(
    ({ index, text }) => index === texts[place - 1]?.index && (isTitle(text) || text.endsWith(":") || place === 1),
  );
  const found = behind.find(({ text }) => isTitle(text)) ?? previous ?? near;
  return found === undefined ? null : trimmed(found.text);
}

/** `, Mathematician, +44 20 7946 0018` is a position before a phone. */
function positionOf({ text, kind, isLabel }: Piece): string | null {
  if (kind !== null || isLabel) return null;
  const parts = /\d{3}/.test(text) ? text.split(/[,、;|•·()]|[–—]| - /) : [text];
  return parts.find(isPosition) ?? null;
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
