import { nameFault } from "@outrigger/core/lookup";
import { type Kind, labelKind } from "./labels.ts";
import { type LinkedAddress, type PageText, SEPARATOR } from "./page-text.ts";
import { isCapitalised, isTitle, type PersonName, personName } from "./person-names.ts";

/** An address at its place in the page. */
export interface Occurrence extends LinkedAddress {
  end: number;
}

/** A text between two breaks. */
export interface Piece {
  start: number;
  end: number;
  text: string;
  kind: Kind | null;
  /** The element that has the kind. */
  owner: number;
  rank: number;
  isLink: boolean;
  isLabel: boolean;
  names?: NamedPart[];
}

export interface NamedPart {
  name: PersonName;
  start: number;
  end: number;
  rank: number;
  /** How sure it is that the text is a name. */
  weight: number;
}

/** A first and a last name that labels announce apart, or a single name beside a last name. */
export function dividedName(pieces: readonly Piece[]): NamedPart | null {
  const of = (kind: Kind) => pieces.find((piece) => piece.kind === kind && !piece.isLabel);
  const last = of("lastName");
  const first = of("firstName") ?? of("name");
  if (last === undefined || first === undefined || nameFault(`${first.text}${last.text}`) !== null)
    return null;
  const start = Math.min(first.start, last.start);
  const end = Math.max(first.end, last.end);
  return { name: { firstName: first.text, lastName: last.text }, start, end, rank: first.rank, weight: 6 };
}

/** Texts between breaks, without the addresses in them. */
export function piecesOf(page: PageText, occurrences: readonly Occurrence[]): Piece[] {
  let masked = "";
  for (const { at, end } of occurrences.toSorted((one, other) => one.at - other.at)) {
    if (at < masked.length || end <= at) continue;
    masked += page.text.slice(masked.length, at) + SEPARATOR.repeat(end - at);
  }
  masked += page.text.slice(masked.length);
  const pieces: Piece[] = [];
  for (const { 0: text, index: at } of masked.matchAll(/[^\n\u2028\u2029]+/g)) {
    if (!/[\p{L}\p{N}\p{So}]/u.test(text)) continue;
    const start = at + text.length - text.trimStart().length;
    const end = start + text.trim().length;
    const index = page.elementAt(start, end);
    const element = page.elements[index];
    const owner = page.elements[element?.kindOwner ?? -1];
    const isLong = owner !== undefined && owner.end - owner.start > 150;
    pieces.push({
      start,
      end,
      text: text.trim(),
      kind: isLong ? null : (element?.kind ?? null),
      owner: element?.kindOwner ?? -1,
      rank: element?.rank ?? 0,
      isLink: element?.isLink ?? false,
      isLabel: false,
    });
  }
  return pieces;
}

/** Passes the kind that a label announces on to the text behind it, and joins the parts of a name. */
export function labelled(pieces: readonly Piece[]): Piece[] {
  let announced: Kind | null = null;
  const kept: Piece[] = [];
  for (const piece of pieces) {
    const previous = kept.at(-1);
    if (piece.kind === "name" && previous?.kind === "name" && piece.owner === previous.owner) {
      if (/\s/.test(previous.text) || /\s/.test(piece.text)) piece.kind = null;
      else {
        previous.text += ` ${piece.text}`;
        previous.end = piece.end;
        continue;
      }
    }
    const [, before = "", value] = /^([^:]{1,32}?)\s*:\s*(\S.*)$/su.exec(piece.text) ?? [];
    const inner = value === undefined ? null : labelKind(before);
    const whole = labelKind(piece.text);
    if (inner !== null && value !== undefined) {
      piece.kind = inner;
      piece.start = piece.end - value.length;
      piece.text = value;
    } else if (whole !== null && piece.kind !== "name") {
      piece.isLabel = true;
      announced = piece.isLink || whole === "email" ? null : whole;
      kept.push(piece);
      continue;
    }
    piece.kind ??= announced;
    announced = null;
    kept.push(piece);
  }
  return kept;
}

export function namesIn(piece: Piece, isFamilyFirst: boolean): NamedPart[] {
  const { text, start, end, kind, rank, isLabel } = piece;
  if (isLabel || text.length > 1000 || (kind !== null && kind !== "name")) return [];
  if (kind === "name") {
    const name = personName(text, isFamilyFirst);
    return name === null ? [] : [{ name, start, end, rank, weight: 4 + rank }];
  }
  const parts: NamedPart[] = [];
  const add = (from: number, written: string, weight: number) => {
    const name = personName(written, isFamilyFirst);
    if (name !== null)
      parts.push({
        name,
        start: start + from,
        end: start + from + written.length,
        rank,
        weight: weight + rank,
      });
  };
  for (const { 0: sub, index } of text.matchAll(
    /(?:[^,;()[\]|•·–—/:（）、，。；：「」【】]|(?<=\p{L})[-–](?=\p{L}))+/gu,
  )) {
    for (const { 0: dashed, index: at } of sub.matchAll(/(?:(?! - ).)+/gsu)) {
      const written = dashed.trim();
      const from = index + at + dashed.length - dashed.trimStart().length;
      if (isCapitalised(written) && !isTitle(written)) add(from, written, /\s/.test(written) ? 1 : -1);
      else
        for (const run of written.matchAll(
          /(?<![\p{L}'’-])\p{Lu}[\p{L}\p{M}.'’-]+(?: (?:(?:van|von|de|der|den|da|di|del|la|dos|du|le|zu|af|ten|ter|y|e)\s){0,2}\p{Lu}[\p{L}\p{M}.'’-]*){1,4}/gu,
        ))
          if (!isTitle(run[0])) add(from + run.index, run[0], 0);
    }
  }
  return parts;
}
