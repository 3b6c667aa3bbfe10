import type { NameForms } from "../names/name-forms.ts";
import type { NameForm } from "../names/name-structures.ts";

/** A piece of a pattern: a part of a name, or literal text. */
export type PatternPiece = { part: NamePart } | { literal: string };
export type FilledText = Pick<NameForm, "text" | "weight">;
export type NamePart = "first" | "last" | "f" | "l";

const PIECES = /\{(first|last|f|l)\}|([a-z0-9._'-]+)|(.)/gs;
const MAX_PATTERN_LENGTH = 64;
/** Each part has several forms, and all are combined. */
const MAX_PARTS = 3;
const MAX_LOCAL_LENGTH = 64;
/** A `local` in the grammar that {@link parseAddress} accepts, limited to characters of names. */
const LOCAL = /^[a-z0-9'_-]+(?:\.[a-z0-9'_-]+)*$/;

/**
 * The pieces of a pattern; `null` for an invalid one: no part of a name, more than three, or text that no
 * address contains.
 */
export function readPattern(pattern: string): PatternPiece[] | null {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    return null;
  }
  const pieces: PatternPiece[] = [];
  for (const [, part, literal] of pattern.matchAll(PIECES)) {
    if (part !== undefined) {
      // The expression matches only these four.
      pieces.push({ part: part as NamePart });
    } else if (literal !== undefined) {
      pieces.push({ literal });
    } else {
      return null;
    }
  }
  const parts = pieces.filter((piece) => "part" in piece).length;
  return parts >= 1 && parts <= MAX_PARTS ? pieces : null;
}

/**
 * Each local part that a pattern forms from a name, with its probability given that the pattern applies.
 * @param minWeight less probable ones are omitted.
 * @param maxLength longer ones are cut.
 */
export function fillPattern(
  pieces: readonly PatternPiece[],
  forms: NameForms,
  minWeight = 0,
  maxLength = Number.POSITIVE_INFINITY,
): FilledText[] {
  let texts: FilledText[] = [{ text: "", weight: 1 }];
  for (const piece of pieces) {
    const choices = choicesFor(piece, forms);
    texts = texts.flatMap((start) =>
      choices.flatMap((choice) => {
        const weight = start.weight * choice.weight;
        return weight < minWeight ? [] : [{ text: start.text + choice.text, weight }];
      }),
    );
  }
  return texts
    .map(({ text, weight }) => ({ text: text.slice(0, maxLength), weight }))
    .filter(({ text }) => isLocal(text));
}

/** Whether a text can be the local part of an address. */
export function isLocal(text: string): boolean {
  return text.length <= MAX_LOCAL_LENGTH && LOCAL.test(text);
}

/** The texts of a piece for one spelling of a name. */
export function choicesFor(piece: PatternPiece, forms: NameForms): readonly FilledText[] {
  if ("literal" in piece) return [{ text: piece.literal, weight: 1 }];
  switch (piece.part) {
    case "first":
      return forms.first;
    case "last":
      return forms.last;
    case "f":
      return forms.firstInitials;
    case "l":
      return forms.lastInitials;
  }
}
