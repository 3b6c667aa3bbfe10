import { labelKind } from "./labels.ts";
import type { NamedPart } from "./page-names.ts";
import type { Piece } from "./page-text.ts";
import { isDegree, isTitle } from "./person-names.ts";

/** A number, with a label or a further text before it. */
const NUMBER =
  /^([^\d+(]{0,40})((?:\+|\(|\d)[\d\u00a0 ()/.‑–-]{4,24}\d(?: ?(?:ext|x|app|DW|int)\w*\.? ?\d{1,5})?)/iu;
const SEPARATOR = /[,、;|•·()（）]|\s[-–—]\s/;

/** The phone of the pieces, by a label, a heading or a link; a mobile one without another. `null` without one. */
export function phoneIn(pieces: readonly Piece[]): string | null {
  const numbers = pieces.flatMap(({ text, kind }) => {
    // `Mathematician, T +44 20 7946 0018`
    return text.split(/[,;|•·]/).flatMap((part) => {
      const [, label = "", number = ""] = NUMBER.exec(part.trim()) ?? [];
      const written =
        labelKind(label) ??
        labelKind(label.trim().replace(/^.*\s/su, "")) ??
        (/\p{L}/u.test(label) ? null : kind);
      const isWhole = number.length > 8 && /^[+(0]/.test(part.trim()) && part.trim().length === number.length;
      return number.length < 6 ? [] : [{ number, kind: written ?? (isWhole ? "phone" : null) }];
    });
  });
  const of = (wanted: string) => numbers.find(({ kind }) => kind === wanted)?.number;
  return of("phone") ?? pieces.find(({ phone }) => phone !== null)?.phone ?? of("mobile") ?? null;
}

/** The position of a person: announced, behind the name in its text, in a piece behind or before that. @param at The piece behind the address. */
export function positionIn(pieces: readonly Piece[], part: NamedPart, at: number): string | null {
  const announced = pieces.find(({ kind, text }) => kind === "position" && /\p{L}/u.test(text));
  if (announced !== undefined) return trimmed(announced.text);
  const texts = pieces.filter(({ text }) => text !== "");
  const place = texts.findIndex(({ index }) => index === part.index);
  const own = texts[place]?.text ?? "";
  const rest = own.slice(part.end);
  const inside = /^[\s)]*(?:[,、;:|–—•·/(（]|-\s)/.test(rest)
    ? rest.split(SEPARATOR).find(isPosition)
    : undefined;
  if (inside !== undefined) return trimmed(inside);
  // `Engineer: Ada Lovelace`
  const [, lead = ""] = /^((?:\S+\s?){1,3}):\s*$/u.exec(own.slice(0, part.start)) ?? [];
  if (lead !== "" && isPosition(lead) && !CONTACT.test(lead)) return trimmed(lead);
  const others = texts.flatMap((piece, index) => {
    const text =
      piece.kind === null && !piece.isLabel && index !== place ? positionOf(piece.text) : undefined;
    return text === undefined || text.includes(part.name.lastName) ? [] : [{ piece, index, text }];
  });
  const behind = others.filter(({ index, text }) => index > place && !text.endsWith(":"));
  const near = behind.find(({ piece, index }) => piece.index < at || index === place + 1);
  const isLead = (text: string) => isTitle(text) || text.endsWith(":") || place === 1;
  const before = others.find(({ index, text }) => index === place - 1 && isLead(text));
  const found = behind.find(({ text }) => isTitle(text)) ?? before ?? near;
  return found === undefined ? null : trimmed(found.text);
}

/** `, Mathematician, +44 20 7946 0018` is a position before a phone. */
function positionOf(text: string): string | undefined {
  return (/\d{3}/.test(text) ? text.split(SEPARATOR) : [text]).find(isPosition);
}

function trimmed(text: string): string {
  // A label whose word is unknown, too.
  return text.replace(/^[\s,;:|•·–—<-]+|[\s,;:|•·–—<-]+$/g, "").replace(/^\p{L}[^:]{1,28}:\s+(?=\p{L})/u, "");
}

function isPosition(text: string): boolean {
  const plain = text.trim();
  return (
    /^.{2,100}$/su.test(plain) &&
    plain.split(/\s+/).length <= 12 &&
    /\p{L}{2}/u.test(plain) &&
    !/\d{2}|https?:|www\.|@|[。！？]$|(?:\s\S+){3}[.!?]$/u.test(plain) &&
    labelKind(plain) === null &&
    !UI.test(plain.replace(/:$/, "")) &&
    !isDegree(plain)
  );
}

/** Words before the name of a contact. */
const CONTACT = /[ck]onta[ck]?t|ansprech|referen|info|frage|question|контакт|担当|連絡|yhteys|κοινων/iu;
const UI =
  /^(?:(?:read |learn |view |see )?(?:more|profile|bio|details?|website|vcard|download|contact|cv|mehr|weiter\w*|zum profil|e-?mail(?: protected)?|mail|send.*|schreib.*|linkedin|xing|twitter|facebook|instagram|x|in|teams?|kontakt|contatto|contacto))$/i;
