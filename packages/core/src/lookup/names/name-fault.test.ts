import fc from "fast-check";
import { expect, test } from "vitest";
import { nameFault } from "./name-fault.ts";

test.each([
  ["", "empty"],
  [" \t", "empty"],
  ["a".repeat(101), "too_long"],
  ["😀".repeat(101), "too_long"],
  ["An\0n", "control_character"],
  ["Ann\nLee", "control_character"],
  ["Ann\u2028", "control_character"],
  ["\ud800nn", "control_character"],
  ["Ann2", "digits"],
  ["٣", "digits"],
  ["--", "no_letters"],
  ["😀", "no_letters"],
  ["J", "single_letters"],
  ["J. R. R.", "single_letters"],
  ["É", "single_letters"],
  ["E\u0301", "single_letters"],
])("%j: %s", (name, fault) => {
  expect(nameFault(name)).toBe(fault);
});

test.each(["Ann", "Bo", "J. Edgar", "van der Berg", "O'Brien", "李", "김", "Ng", "a".repeat(100), "𠮷"])(
  "nameFault(%j) is null",
  (name) => {
    expect(nameFault(name)).toBeNull();
  },
);

test("a name without a fault has a letter, and no digit or control character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 120 }), (name) => {
      if (nameFault(name) === null) {
        expect(name).toMatch(/^[^\p{Nd}\p{Cc}\p{Cs}]*\p{L}[^\p{Nd}\p{Cc}\p{Cs}]*$/u);
      }
    }),
    { numRuns: 1000 },
  );
});
