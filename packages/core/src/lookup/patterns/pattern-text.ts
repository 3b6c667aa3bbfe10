import type { NameForms } from "../names/name-forms.ts";
import type { NameForm } from "../names/name-structures.ts";

/** A piece of a pattern: a part of a name, or text as it stands. */
export type PatternPiece = { part: NamePart } | { literal: string };
export type NamePart = "first" | "last" | "f" | "l";

const PIECES = /\{(first|last|f|l)\}|([a-z0-9._'-]+)|(.)/gs;
const MAX_PATTERN_LENGTH = 64;
/** Each has several forms, and all are combined. */
const MAX_PARTS = 3;
const MAX_LOCAL_LENGTH = 64;
/** `local` of the grammar that {@link parseAddress} admits, so far as names can make one. */
const LOCAL = /^[a-z0-9'_-]+(?:\.[a-z0-9'_-]+)*$/;

/** The pieces of a pattern; `null` for what is none: no part of a name, more than three, or text that no address has. */
export function readPattern(pattern: string): PatternPiece[] | null {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    return null;
  }
  const pieces: PatternPiece[] = [];
  for (const [, part, literal] of pattern.matchAll(PIECES)) {
    if (part !== undefined) {
      // The expression matches these four only.
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

/** Each local that a pattern makes of a name, and how likely, given that the pattern holds. */
export function fillPattern(pieces: readonly PatternPiece[], forms: NameForms): NameForm[] {
  let texts: NameForm[] = [{ text: "", weight: 1 }];
  for (const piece of pieces) {
    const choices = "literal" in piece ? [{ text: piece.literal, weight: 1 }] : formsOf(piece.part, forms);
    texts = texts.flatMap((start) =>
      choices.map(({ text, weight }) => ({ text: start.text + text, weight: start.weight * weight })),
    );
  }
  return texts.filter(({ text }) => text.length <= MAX_LOCAL_LENGTH && LOCAL.test(text));
}

function formsOf(part: NamePart, forms: NameForms): readonly NameForm[] {
  switch (part) {
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
