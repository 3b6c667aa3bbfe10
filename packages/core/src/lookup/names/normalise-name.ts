import { toAscii } from "./transliterate.ts";

/** German and Nordic spellings of one letter with two: not in `Queen`, `Joe`, `Michael`, `Manuela`. */
const TWO_LETTERS_FOR_ONE = /(?<![aeiouq])([aou])e(?=[b-df-hj-np-tv-z])(?!l(?:$|[aeiou]))/g;

/**
 * A key that is equal for the spellings of one name: transliterated, lower case, letters alone, so that particles, hyphens,
 * spaces and apostrophes do not matter, and `Müller`, `Mueller` and `Muller` are one. Empty for a text without letters:
 * what is compared should have some.
 */
export function normaliseName(name: string): string {
  return toAscii(name)
    .replace(/[^a-z]/g, "")
    .replace(/a{2,}/g, "a")
    .replace(TWO_LETTERS_FOR_ONE, "$1");
}
