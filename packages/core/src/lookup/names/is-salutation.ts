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
/** Written out, or in capitals, these words are positions and departments. */
const POSITIONS =
  /^(?:[Pp]rofessor|[Dd]octor|[Ff]ather|[Rr]everend|[Mm]gr|[HI]R|PD|M[EW]|FR|PAN|GEN|[IE]NG|ARCH|HON|MAG|COL|MAJ)$/;
/** Parts of salutations: `Mr. and Mrs.`, `Dr. med.`, `Dott.ssa`, `Univ.-Prof.`, `De heer`. */
const PARTS =
  /^(?:and|or|und|oder|et|ou|y|o|e|i|de|in|a|ra|ssa|med|dent|vet|rer|nat|phil|jur|oec|pol|h|c|hc|habil|hab|dipl|priv|univ|н|жа)$/i;

/** Whether a text contains nothing but salutations and academic titles: `Mrs.`, `Frau Prof. Dr.`, `Mr./Mrs.` */
export function isSalutation(text: string): boolean {
  const words = text.split(/[\s/&,+().-]+/).filter((word) => /\p{L}/u.test(word));
  return words.some(isSalutationWord) && words.every((word) => isSalutationWord(word) || PARTS.test(word));
}

function isSalutationWord(word: string): boolean {
  const lower = word.normalize("NFC").toLowerCase();
  const plain = /^\p{Script=Latin}+$/u.test(lower) ? toAscii(lower) : lower;
  return !POSITIONS.test(word) && (HONORIFICS.has(plain) || SALUTATIONS.has(plain));
}
