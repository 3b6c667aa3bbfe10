import { foldSpelling } from "./normalise-name.ts";
import { toAscii } from "./transliterate.ts";

/** Legal forms after a name, in ASCII and without points and blanks. */
const FORMS: ReadonlySet<string> = new Set(
  [
    "inc corp co llc llp lp ltd plc pllc pc pty pvt pte sdn bhd tbk",
    "gmbh mbh gesmbh ag kg kgaa ohg gbr ek ev eg ug se",
    "sa sas sasu sarl eurl sci snc scop spa srl srls sl slu sau ltda lda eirl eireli sadecv sabdecv decv",
    "bv nv vof bvba sprl cvba ab oy oyj as asa aps hf ehf ks",
    "spzoo spk spj sro kft zrt nyrt bt doo dd ad ood eood uab sia ou sti ooo oao zao pao ao kk gk",
  ].flatMap((line) => line.split(" ")),
);
/** Those of them that may also come first: `AB Volvo`, `ООО Ромашка`. */
const FORMS_IN_FRONT: ReadonlySet<string> = new Set("ab oy ooo oao zao pao ao uab sia pt".split(" "));
const WRITTEN_OUT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ incorporated: "inc", corporation: "corp", company: "co", limited: "ltd", private: "pvt" },
    ...{ haftungsbeschrankt: "ug", aktiengesellschaft: "ag", aktiebolag: "ab" },
  }),
);
/** `Sp. z o.o.`, `S.A. de C.V.` */
const MAX_WORDS_OF_FORM = 3;
const ASIAN_FORMS =
  /株式会社|有限会社|合同会社|股份有限公司|有限公司|주식회사|유한회사|[(（][株有주][)）]|㈱|㈲|㈜/g;
const ASIAN_LETTER = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const CONNECTING_WORDS = new Set(["and", "und", "et", "the"]);

/**
 * A key of an organisation's name, regardless of case, accents, signs and blanks: the name without its legal form, `|`, and the
 * legal form. `Acme, Inc.` and `ACME Incorporated` are `acme|inc`, `Acme` is `acme|`; `Müller & Co. KG` and `Mueller und Co KG`
 * are one key. Chinese, Japanese and Korean characters are kept: several names have one transliteration.
 */
export function organizationKey(name: string): string {
  const { words, forms } = wordsOf(name);
  const base = foldSpelling(words.join("")) || name.trim().toLowerCase();
  return `${base}|${forms}`;
}

function wordsOf(name: string): { words: readonly string[]; forms: string } {
  const plain = name.replace(ASIAN_FORMS, " ");
  const words = (ASIAN_LETTER.test(plain) ? plain.normalize("NFKC").toLowerCase() : toAscii(plain))
    // `C++`, `C#`, `Disney+`.
    .replace(/(?<=[a-z0-9]\+?)\+(?![a-z0-9])/g, "plus")
    .replace(/(?<=[a-z0-9])#/g, "sharp")
    // `S.A.`, `A/S` and `S. A.` are one word.
    .replace(/[.'’`]|(?<=\b[a-z])\/(?=[a-z]\b)/g, "")
    .replace(/(?<=\b[a-z]) +(?=[a-z]\b)/g, "")
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => word !== "" && !CONNECTING_WORDS.has(word))
    .map((word) => WRITTEN_OUT.get(word) ?? word);
  const forms = new Set<string>();
  for (let size = MAX_WORDS_OF_FORM; size > 0; size--) {
    const form = words.slice(-size).join("");
    if (words.length <= size || !FORMS.has(form)) continue;
    forms.add(form);
    words.splice(-size);
    // `GmbH & Co. KG` is three.
    size = MAX_WORDS_OF_FORM + 1;
  }
  const [first = ""] = words;
  if (words.length > 1 && FORMS_IN_FRONT.has(first)) forms.add(words.shift() ?? "");
  return { words, forms: [...forms].sort().join(" ") };
}

/**
 * How well a name with the same {@link organizationPrefix} fits the wanted one, least first: in the same letters but for case; in
 * the same words with the same legal form, without one, with another; the same with words joined, such as `Bluesky`.
 */
export function organizationRank(name: string, wanted: string): number {
  if (name.trim().toLowerCase() === wanted.trim().toLowerCase()) return 0;
  const [known, sought] = [wordsOf(name), wordsOf(wanted)];
  const isJoined = foldSpelling(known.words.join(" ")) !== foldSpelling(sought.words.join(" "));
  return (isJoined ? 4 : 1) + (known.forms === sought.forms ? 0 : known.forms === "" ? 1 : 2);
}

/** A name by which domains belong together: case, points and commas are ignored. */
export function linkedName(name: string): string {
  return name.toLowerCase().replace(/[.,]/g, "").replace(/\s+/g, " ").trim();
}

/** The key of a name without a legal form; those of the same name with one begin with it. */
export function organizationPrefix(key: string): string {
  return key.slice(0, key.lastIndexOf("|") + 1);
}
