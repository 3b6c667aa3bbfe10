import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { amount } from "../../../../../test/support/soak.ts";
import { GIVEN_NAMES } from "./given-names.ts";
import { alphabetNamed, isSpelling, spell } from "./letter-spellings.ts";
import { compareNames, namesakes, spellingKey, spellingKeys } from "./same-name.ts";

function named(text: string): { firstName: string; lastName: string } {
  const [firstName = "", ...rest] = text.split(" ");
  return { firstName, lastName: rest.join(" ") };
}

/** Pairs of names, one a line: whether they are usual spellings of one name, one spelling, or names of others. */
const PAIRS = readFileSync(new URL("../../../test/name-pairs.tsv", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => line.split("\t"));

test.each([
  ["spelling", "spelling"],
  ["exact", "exact"],
  ["other", null],
])("compareNames tells pairs of names, in both orders: %s", (kind, result) => {
  for (const [, one = "", other = ""] of PAIRS.filter(([each]) => each === kind)) {
    for (const [left, right] of [
      [named(one), named(other)],
      [named(other), named(one)],
    ] as const) {
      expect(compareNames(left, right), `${one}, ${other}`).toBe(result);
      const found = namesakes([left], right.firstName, right.lastName);
      expect(found, `${one}, ${other}`).toEqual(result === null ? [] : [left]);
      if (kind !== "spelling") continue;
      const key = spellingKey(right.firstName, right.lastName);
      // Chinese names have no other key than their transliteration.
      const keys = spellingKeys(left.firstName, left.lastName);
      if (key !== "" && keys.length > 0) expect(keys).toContain(key);
    }
  }
});

test.each([
  [
    "russian",
    "б в г д ж з к л м н п р с т ф х ц ч ш щ кс нк ск ст нд дж нц",
    "а е ё и о у ы э ю я ай ей ий ье ью ья",
  ],
  ["ukrainian", "б в г ґ д ж з к л м н п р с т ф х ц ч ш щ нк ст зг", "а е є и і ї о у ю я ій ий ьо"],
  ["greek", "β γ δ ζ θ κ λ μ ν ξ π ρ σ τ φ χ ψ μπ ντ γκ γγ τζ", "α ε η ι ο υ ω ου αι ει οι ευ αυ"],
] as const)(
  "every spelling of a name in %s letters has its key and is recognised",
  (language, starts, vowels) => {
    const syllable = fc
      .tuple(fc.constantFrom(...starts.split(" ")), fc.constantFrom(...vowels.split(" ")))
      .map((letters) => letters.join(""));
    const ends = fc
      .constantFrom("", "ν", "σ")
      .map((end) => (language === "greek" ? end : { "": "", ν: "в", σ: "н" }[end]));
    // Ukrainian is recognised by its letters.
    const start = language === "ukrainian" ? "ї" : "";
    const names = fc
      .tuple(fc.array(syllable, { minLength: 1, maxLength: 4 }), ends)
      .map(([syllables, end]) => start + syllables.join("") + end);
    fc.assert(
      fc.property(names, (name) => {
        const spellings = spell(name, alphabetNamed(language));
        expect(spellings.reduce((sum, { weight }) => sum + weight, 0)).toBeLessThan(1 + 1e-9);
        for (const { text } of spellings.filter(({ text }) => text !== "")) {
          expect(isSpelling(text, name, alphabetNamed(language))).toBe(true);
          expect(spellingKeys(text, text), `${text} ${name}`).toContain(spellingKey(name, name));
          expect(spellingKeys(name, name), `${name} ${text}`).toContain(spellingKey(text, text));
        }
      }),
      { numRuns: amount(20, 200) },
    );
  },
);

test.each(Object.entries(GIVEN_NAMES))("all forms of a %s given name have its key", (_language, groups) => {
  for (const [form, lines] of groups) {
    for (const [other, otherLines] of groups) {
      if (![...lines].some((line) => otherLines.has(line))) continue;
      const keys = [form, other].map((name) => spellingKey(name, "Ivanova")?.replace("~", ""));
      expect(keys[0], `${form} ${other}`).toBe(keys[1]);
    }
  }
});

test("namesakes returns the contacts in this spelling, and others only if there is none", () => {
  const [julia, yulia] = [named("Julia Petrova"), named("Yulia Petrova")];
  expect(namesakes([julia, yulia], "Yulia", "Petrova")).toEqual([yulia]);
  expect(namesakes([julia, julia], "Yuliya", "Petrova")).toEqual([julia, julia]);
});

test("namesakes returns no contact if other spellings may be several people", () => {
  const known = [named("Julia Petrova"), named("Yulia Petrova")];
  expect(namesakes(known, "Yuliya", "Petrova")).toEqual([]);
  expect(namesakes([named("伟 王"), named("薇 王")], "Wei", "Wang")).toEqual([]);
});

test("namesakes skips contacts without a name and returns none for a name without letters", () => {
  const known = [{ firstName: null, lastName: "Petrova" }, named("- 12")];
  expect(namesakes(known, "Yulia", "Petrova")).toEqual([]);
  expect(namesakes(known, "-", "12")).toEqual([]);
});
