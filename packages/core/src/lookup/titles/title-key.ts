import { memoized } from "../memoized.ts";
import { toAscii } from "../names/transliterate.ts";

/** Characters beyond these lengths, of a title and of its key, are ignored. */
const MAX_TITLE_LENGTH = 200;
const MAX_KEY_LENGTH = 400;
/** `VP of Sales` and `VP Sales` are one title. */
const CONNECTING_WORDS = new Set(["of", "the", "and", "for", "de", "du", "des", "der", "und", "et", "y"]);

/**
 * The words of a job title in ASCII and lower case, with a blank before and after each: `Directeur Général` is
 * ` directeur general `. Connecting words are dropped. A title contains another if its key contains the other
 * key. Empty for a text without words.
 */
export const titleKey = memoized((title: string): string => {
  const letters = title.slice(0, MAX_TITLE_LENGTH).replace(/[^\p{L}\p{M}\p{N}.'’]+/gu, " ");
  const words = wordsOf(
    toAscii(letters)
      // `C.E.O.` is `ceo`.
      .replace(/\.(?=[a-z]\b)|['’]/g, ""),
  );
  // Few scripts have no transliteration.
  if (words.length === 0) words.push(...wordsOf(letters.toLowerCase()));
  const telling = words.filter((word) => !CONNECTING_WORDS.has(word));
  let key = "";
  for (const word of telling.length > 0 ? telling : words) {
    if (key.length + word.length > MAX_KEY_LENGTH) break;
    key += `${key === "" ? " " : ""}${word} `;
  }
  return key;
});

function wordsOf(text: string): string[] {
  const words = text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  return words.map((word) => word.slice(0, MAX_KEY_LENGTH));
}
