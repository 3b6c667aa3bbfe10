import { memoized } from "../memoized.ts";
import { europeanAlphabet, foldLetters, latinLetters } from "./letter-spellings.ts";
import { spellings } from "./transliterate.ts";

/** Scripts by what is known of their spelling in Latin letters. */
type Script = "latin" | "european" | "arabic" | "hebrew" | "korean" | "other";

export interface Part {
  readonly script: Script;
  readonly name: string;
  /** Letters in the original script. */
  readonly written: string;
  /** Letters `a` to `z`: `š` is `sh`. */
  readonly latin: string;
  /** The same, but `š` is `s`. */
  readonly plain: string;
}

export const partOf = memoized((name: string): Part => {
  if (/^[\0-\x7f]*$/.test(name)) {
    const latin = name.toLowerCase().replace(/[^a-z]/g, "");
    return { script: "latin", name, written: latin, latin, plain: latin };
  }
  const written = foldLetters(name).replace(/[^\p{L}\p{M}]/gu, "");
  const [latin, plain] = [latinLetters(name), latinLetters(name.normalize("NFD").replace(/\u030c/g, ""))];
  return { script: scriptOf(written), name, written, latin, plain };
});

function scriptOf(written: string): Script {
  if (/\p{Script=Arabic}/u.test(written)) return "arabic";
  if (/\p{Script=Hebrew}/u.test(written)) return "hebrew";
  if (/\p{Script=Hangul}/u.test(written)) return "korean";
  if (/(?!\p{Script=Latin}|\p{Script=Common})\p{L}/u.test(written)) {
    return europeanAlphabet(written) === null ? "other" : "european";
  }
  return "latin";
}

/** The consonants that all usual spellings of a name have. */
export function skeletonOf(part: Part): string {
  return skeleton(consonantLetters(part));
}

const skeleton = memoized((letters) =>
  letters
    .replace(/ph/g, "f")
    .replace(/x/g, "ks")
    .replace(/chtch|sc?ht/g, "s")
    .replace(/t+sch|t+[sz]|t+(?=c)|dzh?|(?:ff?|s+)$/g, "")
    .replace(/n(?=[gkh])|^n(?=t)|m(?=[pb])/g, "")
    .replace(/[^bpdtflmnrsz]/g, "")
    .replace(/[bf]/g, "p")
    .replace(/d/g, "t")
    .replace(/z/g, "s")
    .replace(/(.)\1+/g, "$1"),
);

function consonantLetters({ script, written, plain }: Part): string {
  if (script === "latin") return plain;
  if (/\p{Script=Greek}/u.test(written)) return latinLetters(spellings(written)[0]?.text ?? "");
  if (script !== "arabic" && script !== "hebrew") return plain;
  // A vowel may stand between any two letters. Hebrew writes v and b alike; v inside a name is more frequent.
  return [...written.replace(/(?!^)ב/g, "")].map(latinLetters).join("a");
}
