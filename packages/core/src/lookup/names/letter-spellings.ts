import anyAscii from "any-ascii";
import { memoized } from "../memoized.ts";
import * as tables from "./letter-tables.ts";

/** A Latin spelling of some letters, or of a name, and its share. */
export interface Spelling {
  text: string;
  weight: number;
}

/** Spellings by letters. A key may begin with `^` and end with `$`, the ends of a name; its spellings do, too. */
export type Alphabet = ReadonlyMap<string, readonly Spelling[]>;

const MAX_KEY = 12;
/** Number of spellings of the beginning of a name that are followed. */
const BEAM = 32;

const TABLES = {
  russian: [tables.RUSSIAN],
  ukrainian: [tables.RUSSIAN, tables.UKRAINIAN],
  belarusian: [tables.RUSSIAN, tables.UKRAINIAN, tables.BELARUSIAN],
  bulgarian: [tables.RUSSIAN, tables.BULGARIAN],
  serbian: [tables.RUSSIAN, tables.SERBIAN],
  greek: [tables.GREEK],
  georgian: [tables.GEORGIAN],
  arabic: [tables.ARABIC],
  hebrew: [tables.HEBREW],
  korean: [tables.KOREAN],
};

/** An alphabet, read from its tables at its first use. */
export const alphabetNamed = memoized((name: keyof typeof TABLES) => alphabetOf(TABLES[name]));

/** Cyrillic and Greek letters without accents; Arabic and Hebrew letters without vowel signs and in one form. */
export function foldLetters(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFD")
    .replace(/[\u0300\u0301\u0342\u0313\u0314\u0345\u05b0-\u05c7\u0640\u064b-\u0655\u0670]/g, "")
    .normalize("NFC")
    .replace(/[ςךםןףץآأإٱىیئؤک]/g, (letter) => ONE_FORM[letter] ?? letter);
}

const ONE_FORM: Readonly<Record<string, string>> = {
  ...{ ς: "σ", ך: "כ", ם: "מ", ן: "נ", ף: "פ", ץ: "צ" },
  ...{ آ: "ا", أ: "ا", إ: "ا", ٱ: "ا", ى: "ي", ی: "ي", ئ: "ي", ؤ: "و", ک: "ك" },
};

/** The alphabet of a name in Cyrillic, Greek or Georgian, from {@link foldLetters}; `null` for any other. */
export function europeanAlphabet(folded: string): Alphabet | null {
  if (/\p{Script=Georgian}/u.test(folded)) return alphabetNamed("georgian");
  if (/\p{Script=Greek}/u.test(folded)) return alphabetNamed("greek");
  if (!/\p{Script=Cyrillic}/u.test(folded)) return null;
  if (/ў/.test(folded)) return alphabetNamed("belarusian");
  if (/[іїєґ]/.test(folded)) return alphabetNamed("ukrainian");
  if (/[ђјљњћџѓќѕ]/.test(folded)) return alphabetNamed("serbian");
  return /ъ(?![еёюя])/.test(folded) ? alphabetNamed("bulgarian") : alphabetNamed("russian");
}

/**
 * The usual spellings of a name in an alphabet, likeliest first; their weights add up to at most 1. Signs
 * between words remain; letters of other alphabets are transliterated.
 */
export function spell(name: string, alphabet: Alphabet): Spelling[] {
  const text = `^${name.replace(/[^\p{L}\p{M}]+/gu, (signs) => `$${signs}^`)}$`;
  const begun: Map<string, number>[] = Array.from({ length: text.length + 1 }, () => new Map());
  begun[0]?.set("", 1);
  for (let index = 0; index < text.length; index++) {
    const beginnings = [...(begun[index] ?? [])].sort((a, b) => b[1] - a[1]).slice(0, BEAM);
    if (beginnings.length === 0) continue;
    const [key, spellings] = longestAt(text, index, alphabet);
    const after = begun[index + key.length] ?? new Map();
    for (const [beginning, weight] of beginnings) {
      for (const each of spellings) {
        if (each.weight === 0) continue;
        const longer = beginning + each.text;
        after.set(longer, (after.get(longer) ?? 0) + weight * each.weight);
      }
    }
  }
  return [...(begun[text.length] ?? [])]
    .map(([spelling, weight]) => ({ text: spelling.replace(/[$^]/g, ""), weight }))
    .sort((a, b) => b.weight - a.weight || (a.text < b.text ? -1 : 1));
}

function longestAt(text: string, index: number, alphabet: Alphabet): [string, readonly Spelling[]] {
  for (let length = Math.min(MAX_KEY, text.length - index); length > 0; length--) {
    const key = text.slice(index, index + length);
    const spellings = alphabet.get(key);
    if (spellings !== undefined) return [key, spellings];
  }
  const letter = String.fromCodePoint(text.codePointAt(index) ?? 0);
  const isLetter = /[\p{L}\p{M}]/u.test(letter);
  return [letter, [{ text: isLetter ? latinLetters(letter) : letter, weight: 1 }]];
}

/**
 * Whether Latin letters spell a name in an alphabet, also in an unusual way.
 * @param hasVowels `false` if the alphabet does not write short vowels and double consonants.
 */
export function isSpelling(latin: string, name: string, alphabet: Alphabet, hasVowels = true): boolean {
  const source = `^${name.replace(/[^\p{L}\p{M}]+/gu, "")}$`;
  const target = `^${latin}$`;
  const failed = new Set<number>();

  function matches(from: number, at: number): boolean {
    if (from === source.length) return at === target.length;
    const state = from * (target.length + 1) + at;
    if (failed.has(state)) return false;
    for (let length = Math.min(MAX_KEY, source.length - from); length > 0; length--) {
      const key = source.slice(from, from + length);
      for (const { text } of alphabet.get(key) ?? (length === 1 ? [{ text: latinLetters(key) }] : [])) {
        if (target.startsWith(text, at) && continues(from + length, at + text.length)) return true;
      }
    }
    failed.add(state);
    return false;
  }

  function continues(from: number, at: number): boolean {
    if (matches(from, at)) return true;
    if (hasVowels || at < 2) return false;
    const doubled = target.charAt(at) === target.charAt(at - 1) ? at + 1 : at;
    const isVowel = /[aeiou]/.test(target.charAt(doubled));
    return (
      (doubled > at && matches(from, doubled)) ||
      (isVowel && !/[aeiouyw]/.test(target.charAt(doubled - 1)) && matches(from, doubled + 1))
    );
  }

  return matches(0, 0);
}

/** Whether some name in an alphabet is spelled in both ways. */
export function areSpellings(one: string, other: string, alphabet: Alphabet): boolean {
  const [left, right] = [`^${one}$`, `^${other}$`];
  const pairs = pairsOf(alphabet);
  const failed = new Set<number>();

  function matches(i: number, j: number): boolean {
    if (i === left.length && j === right.length) return true;
    const state = i * (right.length + 1) + j;
    if (i > left.length || j > right.length || failed.has(state)) return false;
    failed.add(state);
    for (const start of [left.charAt(i), ""]) {
      for (const [a, others] of pairs.get(start) ?? []) {
        if (!left.startsWith(a, i)) continue;
        for (const b of others) {
          if (right.startsWith(b, j) && matches(i + a.length, j + b.length)) return true;
        }
      }
    }
    return false;
  }

  return matches(0, 0);
}

/** Spellings of the same letters, by the first character of one of them. */
type Pairs = ReadonlyMap<string, readonly [one: string, others: readonly string[]][]>;

const knownPairs = new WeakMap<Alphabet, Pairs>();

function pairsOf(alphabet: Alphabet): Pairs {
  const known = knownPairs.get(alphabet);
  if (known !== undefined) return known;
  const pairs = new Map<string, [string, string[]][]>();
  for (const spellings of alphabet.values()) {
    for (const { text: one } of spellings) {
      const others = spellings.map(({ text }) => text).filter((text) => one + text !== "");
      pairs.set(one.charAt(0), [...(pairs.get(one.charAt(0)) ?? []), [one, others]]);
    }
  }
  knownPairs.set(alphabet, pairs);
  return pairs;
}

/** The letters `a` to `z` of a name, transliterated; the letters of ISO 9 and Croatian as two: `š` is `sh`. */
export function latinLetters(name: string): string {
  const written = name
    .normalize("NFC")
    .toLowerCase()
    .replace(/[šžč]/g, (letter) => TWO_LETTERS[letter] ?? "");
  return anyAscii(written)
    .toLowerCase()
    .replace(/[^a-z]/g, "");
}

const TWO_LETTERS: Readonly<Record<string, string>> = { š: "sh", ž: "zh", č: "ch" };

function alphabetOf(texts: readonly string[]): Alphabet {
  const alphabet = new Map<string, Spelling[]>([
    ["^", [{ text: "^", weight: 1 }]],
    ["$", [{ text: "$", weight: 1 }]],
  ]);
  for (const line of texts.flatMap((text) => text.trim().split("\n"))) {
    const [key = "", ...spellings] = line.split(" ");
    const total = spellings.reduce((sum, each) => sum + shareOf(each), 0);
    const [start, end] = [key.startsWith("^") ? "^" : "", key.endsWith("$") ? "$" : ""];
    alphabet.set(
      key,
      spellings.map((each) => ({
        text: start + (each.split(":")[0] ?? "").replace("_", "") + end,
        weight: shareOf(each) / total,
      })),
    );
  }
  return alphabet;
}

function shareOf(spelling: string): number {
  return Number(spelling.split(":")[1]);
}
