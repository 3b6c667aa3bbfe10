import { memoized } from "../memoized.ts";
import { toAscii } from "./transliterate.ts";

/** German and Nordic spellings of one letter as two: not in `Queen`, `Joe`, `Michael`, `Manuela`. */
const TWO_LETTERS_FOR_ONE = /(?<![aeiouq])([aou])e(?=[b-df-hj-np-tv-z])(?!l(?:$|[aeiou]))/g;

/**
 * A key that is equal for all spellings of a name: transliterated, lower case, letters only. Particles,
 * hyphens, spaces and apostrophes are ignored; `Müller`, `Mueller` and `Muller` are equal. Empty for a text
 * without letters: do not compare empty keys.
 */
export const normaliseName = memoized((name: string): string =>
  foldSpelling(toAscii(name).replace(/[^a-z]/g, "")),
);

/** Lower-case ASCII in which two letters for one of another alphabet are one. */
export function foldSpelling(letters: string): string {
  return letters.replace(/a{2,}/g, "a").replace(TWO_LETTERS_FOR_ONE, "$1");
}
