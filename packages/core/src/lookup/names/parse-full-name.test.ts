import fc from "fast-check";
import { expect, test } from "vitest";
import { HONORIFIC_NAMES, PARTICLES } from "./name-words.ts";
import { parseFullName } from "./parse-full-name.ts";

test.each([
  ["Ann Lee", "Ann", "Lee"],
  ["  Ann\t Lee ", "Ann", "Lee"],
  ["Dr. Anna van der Berg, PhD", "Anna", "van der Berg"],
  ["Prof. Dr. h.c. Max Müller", "Max", "Müller"],
  ["Frau Dr. Petra Groß", "Petra", "Groß"],
  ["Robert Smith III", "Robert", "Smith"],
  ["John Smith, MBA, PMP", "John", "Smith"],
  ["Lee, Ann", "Ann", "Lee"],
  ["Smith, John, Jr.", "John", "Smith"],
  ["Berg, Jan van der", "Jan", "van der Berg"],
  ["van der Berg, Jan", "Jan", "van der Berg"],
  ["Ludwig von Mises", "Ludwig", "von Mises"],
  ["Mohammed bin Salman", "Mohammed", "bin Salman"],
  ["Khalid Al-Mansour", "Khalid", "Al-Mansour"],
  ["Anne-Marie Müller-Schmidt", "Anne-Marie", "Müller-Schmidt"],
  ["Gabriel García Márquez", "Gabriel", "García Márquez"],
  ["José Ortega y Gasset", "José", "Ortega y Gasset"],
  ["Anna Maria Schmidt", "Anna Maria", "Schmidt"],
  ["John F. Kennedy", "John", "Kennedy"],
  ["J. R. R. Tolkien", "J. R. R.", "Tolkien"],
  ['Robert "Bob" Smith', "Robert", "Smith"],
  ["DUPONT Jean", "Jean", "DUPONT"],
  ["Jan van der BERG", "Jan", "van der BERG"],
  ["Yo Yo Ma", "Yo Yo", "Ma"],
  ["Ann Lee M.A.", "Ann", "Lee"],
  ["Ann Lee, MA", "Ann", "Lee"],
  ["小龙 李", "小龙", "李"],
  ["Von Miller", "Von", "Miller"],
  ["Le Van Nguyen", "Le", "Van Nguyen"],
  ["Do Thi Le", "Do Thi", "Le"],
  ["Ram Prasad V", "Ram", "Prasad"],
  ["سارا غنی", "سارا", "غنی"],
  ["ريم بن عبد السلام", "ريم", "بن عبد السلام"],
  ["Ma, Do", "Do", "Ma"],
])("%s", (text, firstName, lastName) => {
  expect(parseFullName(text)).toEqual({ firstName, lastName });
});

test("parseFullName returns null for a text without a first and a last name", () => {
  const texts =
    "| |Madonna|MADONNA|Mr Smith|Ann S.|von Neumann|von NEUMANN|van der Berg|DE LA CRUZ|’t Hart|12 34|, |Smith,|Dr.|" +
    "PhD, MBA";
  for (const text of [...texts.split("|"), "a".repeat(500)]) expect(parseFullName(text), text).toBeNull();
});

test("parseFullName takes two words as a first and a last name, also if the first can be a particle or a title", () => {
  const words = [...PARTICLES, ...HONORIFIC_NAMES].filter((word) => !word.includes("'"));
  for (const word of words) {
    const capitalised = word.charAt(0).toUpperCase() + word.slice(1);
    for (const first of word === "von" ? [capitalised] : [capitalised, word]) {
      const name = { firstName: first, lastName: "Zhang" };
      expect(parseFullName(`${first} Zhang`), first).toEqual(name);
      expect(parseFullName(`Zhang, ${first}`), first).toEqual(name);
    }
  }
});

test("parseFullName returns null, or two parts with letters that are made of the text's words", () => {
  const words = fc.constantFrom(
    "Ann",
    "van",
    "der",
    "LEE",
    "y",
    "de",
    "J.",
    "Dr.",
    "Jr.",
    ",",
    "García",
    "(Bob)",
    "e",
    "o'",
  );
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.array(words, { maxLength: 8 }).map((list) => list.join(" ")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const name = parseFullName(text);
      if (name !== null) {
        const known = text.normalize("NFC").split(/[\s,]+/);
        for (const part of [name.firstName, name.lastName]) {
          expect(part).toMatch(/\p{L}/u);
          expect(part).toBe(part.trim());
        }
        if (!/[("“]/.test(text)) {
          expect(known).toEqual(expect.arrayContaining(`${name.firstName} ${name.lastName}`.split(" ")));
        }
      }
    }),
    { numRuns: 1000 },
  );
});
