import { normaliseName } from "@outrigger/core/lookup";
import { labelKind } from "./labels.ts";
import { lowerBound } from "./lower-bound.ts";
import type { NamedPart, Piece } from "./page-pieces.ts";
import { GAP } from "./page-text.ts";
import {
  EAST_ASIAN,
  isCapitalised,
  isDegree,
  isTitle,
  nameFit,
  PARTICLE,
  personName,
  TITLES_BEFORE,
} from "./person-names.ts";

/** Longer texts are prose. */
const MAX_WORDS = 12;
/** The end of a name behind a given one. */
const PATRONYMIC = /(?:ич|вна|чна)$/u;
/** Parts without numbers and brackets. */
const WORDS = /[^\d+()[\]<>{}]+/g;

/** What divides parts beside blanks; and beside gaps. */
const DIVIDING = /[,;:|•·–—、，；：]|(?:^|\s)[-/](?:\s|$)/;
const DIVIDING_GAPS = /[,;|•·–—<]\s*\u2029|\u2029\s*[,;|•·–—>/-]/;

/** The lines of a text. */
export class Lines {
  readonly #ends: readonly number[];

  constructor(text: string) {
    this.#ends = [...text.matchAll(/\n|$/g)].map(({ index }) => index);
  }

  /** The line at an offset. */
  at(offset: number): { start: number; end: number } {
    const next = lowerBound(this.#ends.length, (index) => (this.#ends[index] ?? 0) >= offset);
    return { start: (this.#ends[next - 1] ?? -1) + 1, end: this.#ends[next] ?? offset };
  }
}

/**
 * Reads a line whose parts blanks alone set apart: the name in it, `null` in doubt, and its texts. `null` for another line.
 * @param pieces Those of one address. @param line With further addresses. @param local `null` for a role.
 */
export function readColumns(
  pieces: readonly Piece[],
  line: string,
  local: string | null,
  isFamilyFirst: boolean,
): { part: NamedPart | null; texts: Piece[] } | null {
  const texts = textsOf(pieces);
  const hasGap = line.includes(GAP);
  const isDivided = hasGap ? DIVIDING_GAPS.test(line) : texts.some(({ text }) => DIVIDING.test(text));
  if (isDivided || pieces.some(({ kind, owner }) => kind !== null && owner >= 0)) return null;
  if (texts.length === 0) return hasGap && line.split("@").length > 2 ? { part: null, texts } : null;
  const found = texts.flatMap((text) =>
    local === null ? [] : (splitAtName(text, local, isFamilyFirst) ?? []),
  );
  const split = found.find(({ part }) => part.weight > 1) ?? (found.length === 1 ? found[0] : undefined);
  if (split === undefined)
    return hasGap || (local !== null && texts.some(({ text }) => isMixed(text)))
      ? { part: null, texts }
      : null;
  const { part } = split;
  // The rest of a name alone may stand in lines below.
  const [shown, ...others] = pieces.filter(({ isLabel }) => !isLabel);
  const isAlone = others.length === 0 && split.pieces.length === 1 && part.end === shown?.end;
  if (!hasGap && isAlone) return null;
  const isAround = ({ start, end }: Piece) => start <= part.start && end >= part.end;
  return { part, texts: texts.flatMap((text) => (isAround(text) ? split.pieces : [text])) };
}

/** The texts of a line between its numbers, without labels. */
function textsOf(pieces: readonly Piece[]): Piece[] {
  return pieces.flatMap(({ names: _, ...piece }) =>
    [...(piece.isLabel ? "" : piece.text).matchAll(WORDS)].flatMap(({ 0: written, index }) => {
      const text = written.trim().replace(/(?:^|\s)\S+$/, (last) => (isContactLabel(last) ? "" : last));
      const start = piece.start + index + written.length - written.trimStart().length;
      return /\p{L}{2}/u.test(text) ? [{ ...piece, kind: null, text, start, end: start + text.length }] : [];
    }),
  );
}

function isContactLabel(word: string): boolean {
  return /^(?:phone|mobile|fax|email)$/.test(labelKind(word) ?? "");
}

/** Whether a text may begin with a name and end with a title. */
function isMixed(text: string): boolean {
  const [one = "", two = "", three = ""] = text.replace(/^(?:\S+\. )+/, "").split(" ");
  return (
    two !== "" &&
    (EAST_ASIAN.test(one + two) || (!isTitle(one) && three !== "" && isCapitalised(`${one} ${two} ${three}`)))
  );
}

/** A name, and the texts before, in and behind it, where blanks alone divide them; `null` in doubt. */
function splitAtName(piece: Piece, local: string, isFamilyFirst: boolean) {
  const words = [...piece.text.matchAll(/\S+/g)].map(({ 0: text, index }) => ({ text, index }));
  if (words.length > MAX_WORDS) return null;
  const word = (at: number) => words[at]?.text ?? "";
  const cut = (from: number, to: number): Piece => {
    const start = words[from]?.index ?? piece.text.length;
    const text = piece.text.slice(start, words[to]?.index).trim();
    return { ...piece, text, start: piece.start + start, end: piece.start + start + text.length };
  };
  const known = normaliseName(local);
  const isKnown = (text: string) => text.length > 2 && known.includes(text);
  const isFitting = (at: number) =>
    isKnown(normaliseName(word(at))) || (at > 0 && isKnown(normaliseName(word(at - 1) + word(at))));
  let fitting = words.findLastIndex((_, at) => isFitting(at)) + 1;
  if (fitting > 0 && PATRONYMIC.test(word(fitting))) fitting += 1;
  let from = (TITLES_BEFORE.exec(piece.text)?.[0].match(/\S+/g) ?? []).length;
  while (
    isTitle(word(from)) ||
    (/^\p{Ll}/u.test(word(from)) && (isTitle(word(0)) || word(from).endsWith(".")))
  )
    from += 1;
  const isEnd = (end: number) => {
    if (end > words.length || !isCapitalised(cut(from, end).text) || PARTICLE.test(word(end - 1)))
      return false;
    if (EAST_ASIAN.test(cut(from, end).text))
      return end - from < 3 && (end === words.length || (end === fitting && end - from > 1));
    if (end === fitting) return true;
    if (isTitle(word(end - 1)) || PARTICLE.test(word(end))) return false;
    const isShort = end - from === 2 && !/^\p{Lu}/u.test(word(end));
    return isShort || (end < words.length && isTitle(cut(end, words.length).text));
  };
  const ends = [1, 2, 3, 4, 5].map((count) => from + count).filter(isEnd);
  const to = ends.find((end) => end === fitting) ?? (ends.length === 1 ? ends[0] : undefined);
  const name = to === undefined ? null : personName(cut(from, to).text, isFamilyFirst);
  if (to === undefined || name === null) return null;
  const weight = nameFit(name, local);
  let behind = to;
  while (behind < words.length && isDegree(word(behind))) behind += 1;
  const [before, whole, rest] = [cut(0, from), cut(from, to), cut(behind, words.length)];
  const isPosition = isTitle(rest.text) || /^\P{Ll}.*\s(?!(?:de|d[aeo]s?|la|y|e)\s)\p{Ll}/u.test(rest.text);
  const isHonorific = personName(cut(0, to).text, isFamilyFirst)?.firstName === name.firstName;
  const part: NamedPart = { ...whole, name, weight };
  return weight < 0
    ? null
    : { part, pieces: [...(isHonorific ? [] : [before]), whole, ...(isPosition ? [rest] : [])] };
}
