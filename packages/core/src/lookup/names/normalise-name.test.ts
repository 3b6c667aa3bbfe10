import fc from "fast-check";
import { expect, test } from "vitest";
import { normaliseName } from "./normalise-name.ts";

test.each([
  ["Müller", "Mueller", "Muller", "MÜLLER", "Mu\u0308ller"],
  ["van der Berg", "Van Der Berg", "van-der-berg", "Vanderberg"],
  ["O'Brien", "O’Brien", "OBrien", "o brien"],
  ["Anne-Marie", "Anne Marie", "Annemarie"],
  ["Straße", "Strasse"],
  ["Bjørn", "Bjorn", "Bjoern"],
  ["Åse", "Aase", "Ase"],
  ["Łukasz", "Lukasz"],
  ["García", "Garcia"],
  ["Schröder", "Schroeder", "Schroder"],
  ["Юлия", "Yuliya"],
])("normaliseName gives %s and %s the same key", (...names) => {
  expect(new Set(names.map(normaliseName)).size).toBe(1);
  expect(normaliseName(names[0] ?? "")).not.toBe("");
});

test.each([
  ["Michael", "Michal"],
  ["Samuel", "Samul"],
  ["Joel", "Jol"],
  ["Joe", "Jo"],
  ["Queen", "Qun"],
  ["Anna", "Anne"],
  ["Smith", "Smythe"],
])("normaliseName gives %s and %s different keys", (left, right) => {
  expect(normaliseName(left)).not.toBe(normaliseName(right));
});

test("normaliseName returns an empty key for a text without letters", () => {
  expect(normaliseName(" - 12 ")).toBe("");
});

test("a normalised name has only letters a to z, and normalising it changes nothing", () => {
  const names = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.string({ unit: fc.constantFrom(..."aeoumlnqÄöüåøß -'"), maxLength: 20 }),
  );
  fc.assert(
    fc.property(names, (name) => {
      const key = normaliseName(name);
      expect(key).toMatch(/^[a-z]*$/);
      expect(normaliseName(key)).toBe(key);
      expect(normaliseName(` ${name.toLowerCase()}-`)).toBe(normaliseName(name.toLowerCase()));
    }),
    { numRuns: 1000 },
  );
});
