import anyAscii from "any-ascii";
import { type Alphabet, europeanAlphabet, foldLetters, type Spelling, spell } from "./letter-spellings.ts";

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
  return anyAscii(text.normalize("NFC")).toLowerCase();
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
export function spellings(text: string): readonly Spelling[] {
  const folded = foldLetters(text);
  const alphabet = europeanAlphabet(folded);
  if (!hasUsualSpelling(text)) {
    return [{ text: withoutSigns(text), weight: UNSURE_WEIGHT }];
  }
  if (alphabet !== null) {
    return cachedSpellings(folded, alphabet);
  }
  return [{ text: withoutSigns(text.normalize("NFC").toLowerCase()), weight: 1 }];
}

/** Names repeat: patterns are learnt from all contacts of a domain. */
const spelled = new Map<string, readonly Spelling[]>();
const MAX_SPELLED = 5000;

function cachedSpellings(folded: string, alphabet: Alphabet): readonly Spelling[] {
  let known = spelled.get(folded);
  if (known === undefined) {
    known = spell(folded, alphabet);
    if (spelled.size >= MAX_SPELLED) spelled.clear();
    spelled.set(folded, known);
  }
  return known;
}

/** In ASCII; only Latin text keeps its apostrophes, others get them for a sound. */
function withoutSigns(text: string): string {
  const ascii = toAscii(text);
  return /(?!\p{Script=Latin}|\p{Script=Common})\p{L}/u.test(text) ? ascii.replace(/['`]/g, "") : ascii;
}
