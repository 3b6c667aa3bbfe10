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
])("%s is the same name as %s", (...names) => {
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
])("%s is another name than %s", (left, right) => {
  expect(normaliseName(left)).not.toBe(normaliseName(right));
});

test("without letters there is no key", () => {
  expect(normaliseName(" - 12 ")).toBe("");
});

test("a key is of a to z, and its own key", () => {
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
