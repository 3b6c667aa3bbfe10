import anyAscii from "any-ascii";
import { memoized } from "../memoized.ts";
import { europeanAlphabet, foldLetters, type Spelling, spell } from "./letter-spellings.ts";

/** A letter of another script than those with usual spellings in Latin letters. */
const UNSURE_LETTER =
  /(?![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Georgian}\p{Script=Common}])\p{L}/u;
/** The share of addresses that follow the transliteration of such a script. */
const UNSURE_WEIGHT = 0.1;

/**
 * The Latin letters of a text, each as one ASCII letter if possible: `Müller` is `muller`, `Łódź` is `lodz`,
 * `Straße` is `strasse`.
 */
export function toAscii(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text.toLowerCase() : anyAscii(text.normalize("NFC")).toLowerCase();
}

/**
 * Whether a name has usual spellings in Latin letters. Not in scripts without vowels or with several readings:
 * Arabic, Hebrew, Chinese, Japanese, Korean, Thai, the scripts of India and others.
 */
export function hasUsualSpelling(name: string): boolean {
  return !UNSURE_LETTER.test(name);
}

/**
 * `Юлия` → `yulia`, `yuliya`, `julia`: likeliest spelling first. Their weights add up to 1, or to 0.1 for a name
 * without usual spellings. Letters such as `ä` are the matter of {@link nameSpellings}.
 */
export const spellings = memoized((text: string): readonly Spelling[] => {
  if (!hasUsualSpelling(text)) {
    return [{ text: withoutSigns(text), weight: UNSURE_WEIGHT }];
  }
  const folded = foldLetters(text);
  const alphabet = europeanAlphabet(folded);
  if (alphabet !== null) {
    return spell(folded, alphabet);
  }
  return [{ text: withoutSigns(text.normalize("NFC").toLowerCase()), weight: 1 }];
});

/** In ASCII; only Latin text keeps its apostrophes, others get them for a sound. */
function withoutSigns(text: string): string {
  const ascii = toAscii(text);
  return /(?!\p{Script=Latin}|\p{Script=Common})\p{L}/u.test(text) ? ascii.replace(/['`]/g, "") : ascii;
}
