import { HONORIFICS } from "./name-words.ts";
import { toAscii } from "./transliterate.ts";

/** Further salutations, without accents; the last line is not in Latin letters. */
const SALUTATIONS: ReadonlySet<string> = new Set(
  [
    "messrs madam mesdames messieurs m herrn hrn frl fraulein fru frk froken heer mevrouw meneer juffrouw signor signore signora",
    "signorina senor senora senorita srta senhor senhora exmo ilmo bay bayan sayin bc judr mudr rndr phdr",
    "г господин госпожа пан пані 先生 女士 小姐 様 氏 씨 님 السيد السيدة κ κος κα",
  ].flatMap((line) => line.split(" ")),
);
/** Written out, these are positions. */
const POSITIONS: ReadonlySet<string> = new Set("professor doctor father reverend mgr".split(" "));
/** In capitals, these are departments, functions and degrees. */
const CAPITALS: ReadonlySet<string> = new Set(
  "HR IR PD ME MW FR PAN GEN ING ENG ARCH HON MAG COL MAJ".split(" "),
);
/** Parts that belong to salutations: `Mr. and Mrs.`, `Dr. med.`, `Dott.ssa`, `Univ.-Prof.`, `De heer`. */
const PARTS: ReadonlySet<string> = new Set(
  "and or und oder et ou y o e i de in a ra ssa med dent vet rer nat phil jur oec pol h c hc habil hab dipl priv univ н жа".split(
    " ",
  ),
);

/** Whether a text contains nothing but salutations and academic titles: `Mrs.`, `Frau Prof. Dr.`, `Mr./Mrs.` */
export function isSalutation(text: string): boolean {
  const words = text.split(/[\s/&,+().-]+/).filter((word) => /\p{L}/u.test(word));
  return (
    words.some(isSalutationWord) && words.every((word) => isSalutationWord(word) || PARTS.has(plain(word)))
  );
}

function isSalutationWord(word: string): boolean {
  if (POSITIONS.has(plain(word)) || CAPITALS.has(word)) return false;
  return HONORIFICS.has(plain(word)) || SALUTATIONS.has(plain(word));
}

/** In lower case, and without accents if it is in Latin letters. */
function plain(word: string): string {
  const lower = word.normalize("NFC").toLowerCase();
  return /^\p{Script=Latin}+$/u.test(lower) ? toAscii(lower) : lower;
}
