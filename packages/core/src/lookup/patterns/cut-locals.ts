import type { NameForms, NameSpelling } from "../names/name-forms.ts";
import { DEFAULT_PATTERNS } from "./default-patterns.ts";
import {
  choicesFor,
  type FilledText,
  fillPattern,
  isLocal,
  type PatternPiece,
  readPattern,
} from "./pattern-text.ts";

/** Where a domain cuts long addresses: the whole local part, or the last name in it, to so many characters. */
export type Cut = `cut.${number}` | `lastCut.${number}`;

/** Choice of the addresses that are longer than the cut of their domain. */
export const UNCUT = "cut.none";

/** Shorter remains of a name are read as nicknames. */
const MIN_CUT = 5;
const LAST_CUTS = [3, 4, 5, 6, 7, 8];

const PATTERNS = DEFAULT_PATTERNS.flatMap(({ pattern }) => {
  const pieces = readPattern(pattern);
  return pieces === null || !pattern.includes("{last}") ? [] : [{ pattern, pieces }];
});

/** The patterns that form a local part once their text is cut, each with the cut: at least one letter. */
export function cutReadings(local: string, name: readonly NameSpelling[]): [pattern: string, cut: Cut][] {
  if (local.length < MIN_CUT || !isLocal(local)) return [];
  const readings: [string, Cut][] = [];
  for (const { pattern, pieces } of PATTERNS) {
    const possible = name.filter(({ forms }) => pieces.every((piece) => choicesFor(piece, forms).length > 0));
    if (pattern.endsWith("{last}")) {
      const isFormed = possible.some(({ forms }) => doesForm(local, pieces, forms, { isWholeCut: true }));
      if (isFormed) readings.push([pattern, `cut.${local.length}`]);
      continue;
    }
    for (const lastLength of LAST_CUTS) {
      const isFormed = possible.some(({ forms }) => doesForm(local, pieces, forms, { lastLength }));
      if (isFormed) readings.push([pattern, `lastCut.${lastLength}`]);
    }
  }
  return readings;
}

/**
 * Whether {@link cutTexts} has a local part, without forming the others: domains may have hundreds of addresses that
 * no pattern explains.
 */
function doesForm(
  local: string,
  pieces: readonly PatternPiece[],
  forms: NameForms,
  { isWholeCut = false, lastLength }: { isWholeCut?: boolean; lastLength?: number },
): boolean {
  const formsFrom = (index: number, at: number): boolean => {
    if (at >= local.length && isWholeCut) return true;
    const piece = pieces[index];
    if (piece === undefined) return at === local.length;
    const isLast = "part" in piece && piece.part === "last";
    return choicesFor(piece, forms).some(({ text }) => {
      let part = isLast ? text.slice(0, lastLength) : text;
      if (isWholeCut) part = part.slice(0, local.length - at);
      return local.startsWith(part, at) && formsFrom(index + 1, at + part.length);
    });
  };
  return formsFrom(0, 0);
}

/** What a pattern forms from one spelling of a name if its domain cuts. */
export function cutTexts(
  pieces: readonly PatternPiece[],
  { forms }: NameSpelling,
  cut: Cut,
  minWeight = 0,
): FilledText[] {
  const length = lengthOf(cut);
  if (cut.startsWith("cut.")) return fillPattern(pieces, forms, minWeight, length);
  const last = forms.last.map((form) => ({ ...form, text: form.text.slice(0, length) }));
  return fillPattern(pieces, { ...forms, last }, minWeight);
}

/** The cut of a pattern, and the probability that it applies; `null` if its addresses show none. */
export function cutOf(
  habits: Readonly<Record<string, number>> = {},
): { cut: Cut; probability: number } | null {
  const uncut = habits[UNCUT] ?? 0;
  for (const [key, count] of Object.entries(habits)) {
    if (isCut(key) && count > 0) return { cut: key, probability: (count + 0.5) / (count + uncut + 1) };
  }
  return null;
}

/** The number of characters to which an address is cut. */
export function lengthOf(cut: Cut): number {
  return Number(cut.slice(cut.indexOf(".") + 1));
}

function isCut(key: string): key is Cut {
  return /^(?:cut|lastCut)\.[1-9][0-9]?$/.test(key);
}
