import anyAscii from "any-ascii";

/** Letters that can be transliterated as one letter or two, by language. */
const SPELLED_OUT: ReadonlyMap<string, string> = new Map([
  ["ä", "ae"],
  ["ö", "oe"],
  ["ü", "ue"],
  ["ø", "oe"],
  ["å", "aa"],
]);

/**
 * Languages with these letters do not write the others as two: Turkish, Hungarian, Estonian and similar ones, and
 * Scandinavian except for `å`.
 */
const NEVER_SPELLED_OUT = /[ğışçőűáéíóúõšž]/;
const GERMAN_LETTERS = /[äöü]/;
const HAS_TWO_SPELLINGS = /[äöüøå]/;

/** An ASCII spelling of a name, and its probability; those of one name add up to 1. */
export interface Spelling {
  text: string;
  weight: number;
}

/**
 * The Latin letters of a text, each as one ASCII letter if possible: `Müller` is `muller`, `Łódź` is `lodz`,
 * `Straße` is `strasse`.
 */
export function toAscii(text: string): string {
  return anyAscii(text.normalize("NFC")).toLowerCase();
}

/** `Müller` → `mueller`, `muller`: likelier spelling first. */
export function spellings(text: string): Spelling[] {
  const written = text.normalize("NFC").toLowerCase();
  const short = toAscii(written);
  if (!HAS_TWO_SPELLINGS.test(written)) {
    return [{ text: short, weight: 1 }];
  }
  const long = toAscii(written.replace(/[äöüøå]/g, (letter) => SPELLED_OUT.get(letter) ?? letter));
  const longWeight = weightOfLong(written);
  return [
    { text: long, weight: longWeight },
    { text: short, weight: 1 - longWeight },
  ].sort((left, right) => right.weight - left.weight);
}

function weightOfLong(written: string): number {
  if (NEVER_SPELLED_OUT.test(written)) {
    return 0.05;
  }
  return GERMAN_LETTERS.test(written) ? 0.65 : 0.3;
}
