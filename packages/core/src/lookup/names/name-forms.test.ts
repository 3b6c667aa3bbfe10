import fc from "fast-check";
import { expect, test } from "vitest";
import { type NameForms, nameSpellings } from "./name-forms.ts";
import type { NameForm } from "./name-structures.ts";

type WeighedForm = Pick<NameForm, "text" | "weight">;

function textsOf(forms: readonly WeighedForm[]): string[] {
  return forms.map(({ text }) => text);
}

/** The forms of all spellings of a name with a probability of at least 0.01, likeliest first. */
function nameForms(firstName: string, lastName: string): Record<keyof NameForms, WeighedForm[]> {
  const spellings = nameSpellings(firstName, lastName);
  const formsOf = (part: keyof NameForms) => {
    const weights = new Map<string, number>();
    for (const { weight, forms } of spellings) {
      for (const form of forms[part]) {
        weights.set(form.text, (weights.get(form.text) ?? 0) + weight * form.weight);
      }
    }
    return [...weights]
      .map(([text, weight]) => ({ text, weight }))
      .filter(({ weight }) => weight >= 0.01)
      .sort((left, right) => right.weight - left.weight);
  };
  return {
    first: formsOf("first"),
    last: formsOf("last"),
    firstInitials: formsOf("firstInitials"),
    lastInitials: formsOf("lastInitials"),
  };
}

test("nameForms returns one form for a plain name", () => {
  expect(nameForms("Ann", "Lee")).toEqual({
    first: [{ text: "ann", weight: 1 }],
    last: [{ text: "lee", weight: 1 }],
    firstInitials: [{ text: "a", weight: 1 }],
    lastInitials: [{ text: "l", weight: 1 }],
  });
});

test.each([
  ["van der Berg", ["vanderberg", "berg", "van-der-berg", "van.der.berg", "vdberg"]],
  ["García Márquez", ["garcia", "marquez", "garciamarquez", "garcia-marquez", "garcia.marquez"]],
  ["Müller", ["mueller", "muller"]],
  ["Gümüş", ["gumus", "guemues"]],
  ["Weiß", ["weiss", "weis"]],
  ["Sørensen", ["sorensen", "soerensen"]],
  ["Łęcki", ["lecki"]],
  ["O'Brien", ["obrien", "o'brien", "o-brien"]],
  ["Đukić", ["dukic", "djukic"]],
  ["Kjær", ["kjaer", "kjar"]],
  ["Щербаков", ["shcherbakov", "scherbakov", "sherbakov", "shcherbakoff", "shcherbakow"]],
  ["Ольга", ["olga", "olha"]],
  ["Дем’яненко", ["demyanenko", "demianenko", "demjanenko"]],
  ["Юлия", ["yulia", "julia", "yuliya", "iuliia", "juliya", "yuliia"]],
  ["Вълков", ["valkov", "vulkov", "vylkov", "valkoff", "walkov", "valkow"]],
  ["Παπαδόπουλος", ["papadopoulos", "papadopulos"]],
  ["ყიფიანი", ["qipiani", "kipiani"]],
  ["Al", ["al"]],
])("nameForms writes the last name %s as %j", (lastName, texts) => {
  expect(textsOf(nameForms("Ann", lastName).last)).toEqual(texts);
});

test.each([
  ["Anne-Marie", ["annemarie", "anne-marie", "anne", "anne.marie", "anne.m", "marie"], ["a", "am"]],
  ["Anna Maria", ["anna", "annamaria", "anna-maria", "anna.maria", "anna.m", "maria"], ["a", "am"]],
  ["Jörg", ["joerg", "jorg"], ["j"]],
])("nameForms writes the first name %s as %j, or %j for short", (firstName, texts, initials) => {
  const forms = nameForms(firstName, "Lee");
  expect(textsOf(forms.first)).toEqual(texts);
  expect(textsOf(forms.firstInitials)).toEqual(initials);
});

test.each(["محمد", "שמעון", "สมชาย", "健", "さくら", "민준", "अमित", "Հակոբ"])(
  "nameForms gives forms of %s, which has no sure spelling, a probability of at most 0.1",
  (firstName) => {
    for (const forms of [nameForms(firstName, "Lee").first, nameForms(firstName, "Lee").firstInitials]) {
      expect(forms.reduce((sum, { weight }) => sum + weight, 0)).toBeLessThanOrEqual(0.1 + 1e-9);
    }
  },
);

test("a particle belongs to the surname after it, in each of its forms", () => {
  const texts = textsOf(nameForms("Ann", "de la Cruz Romero").last);
  expect(texts.slice(0, 4)).toEqual(["romero", "delacruz", "delacruzromero", "cruz"]);
  expect(textsOf(nameForms("Ann", "Vega de la Torre").last)).toEqual(
    expect.arrayContaining(["vega", "delatorre", "torre", "vegadelatorre", "vegatorre", "vega-torre"]),
  );
});

test("nameSpellings spells the first and the last name alike", () => {
  const spelled = nameSpellings("Jörg", "Müller").map(({ forms, choices }) => [
    forms.first[0]?.text,
    forms.last[0]?.text,
    ...choices,
  ]);
  expect(spelled).toEqual([
    ["joerg", "mueller", "umlaut.two"],
    ["jorg", "muller", "umlaut.one"],
  ]);
});

test("nameForms returns every possible initial of a name with particles", () => {
  expect(textsOf(nameForms("Jan", "van der Berg").lastInitials)).toEqual(["v", "b", "vdb"]);
});

test("nameForms returns distinct forms of address characters, likeliest first, with weights of at most 1 in total", () => {
  const names = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.string({ unit: fc.constantFrom(..."anvdeÄüøß -'’."), maxLength: 20 }),
  );
  fc.assert(
    fc.property(names, names, (firstName, lastName) => {
      for (const forms of Object.values(nameForms(firstName, lastName))) {
        expect(new Set(textsOf(forms)).size).toBe(forms.length);
        expect(forms.reduce((sum, { weight }) => sum + weight, 0)).toBeLessThan(1 + 1e-9);
        expect(forms.map(({ weight }) => weight)).toEqual(
          forms.map(({ weight }) => weight).sort((a, b) => b - a),
        );
        for (const { text } of forms) {
          expect(text).toMatch(/^[a-z]([a-z.'-]*[a-z])?$/);
        }
      }
    }),
    { numRuns: 300 },
  );
});
