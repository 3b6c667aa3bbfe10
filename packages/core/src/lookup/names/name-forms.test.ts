import fc from "fast-check";
import { expect, test } from "vitest";
import { nameForms } from "./name-forms.ts";
import type { NameForm } from "./name-structures.ts";

function textsOf(forms: readonly NameForm[]): string[] {
  return forms.map(({ text }) => text);
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
  ["van der Berg", ["vanderberg", "berg", "van.der.berg", "van-der-berg"]],
  ["García Márquez", ["garcia", "garciamarquez", "marquez", "garcia-marquez", "garcia.marquez"]],
  ["Müller", ["mueller", "muller"]],
  ["Gümüş", ["gumus", "guemues"]],
  ["Weiß", ["weiss"]],
  ["Sørensen", ["sorensen", "soerensen"]],
  ["Łęcki", ["lecki"]],
  ["O'Brien", ["obrien", "o'brien", "o-brien"]],
  ["de la Cruz Romero", ["delacruz", "delacruzromero", "romero", "delacruz-romero", "delacruz.romero"]],
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
  ["Anne-Marie", ["annemarie", "anne-marie", "anne", "anne.marie"], ["a", "am"]],
  ["Anna Maria", ["anna", "annamaria", "anna.maria", "anna-maria"], ["a", "am"]],
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
      for (const forms of Object.values<readonly NameForm[]>({ ...nameForms(firstName, lastName) })) {
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
