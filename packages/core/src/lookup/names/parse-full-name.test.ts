import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { HONORIFIC_NAMES, PARTICLES } from "./name-words.ts";
import { parseFullName } from "./parse-full-name.ts";

test("parseFullName reads titles, particles, commas, nicknames and several scripts", () => {
  const lines = readFileSync(new URL("../../../test/full-names.tsv", import.meta.url), "utf8").trimEnd();
  for (const line of lines.split("\n")) {
    const [text = "", firstName, lastName] = line.split("\t");
    expect(parseFullName(text.replace("\\t", "\t")), text).toEqual({ firstName, lastName });
  }
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
        if (!/[("“\p{Script=Han}\p{Script=Hangul}]/u.test(text)) {
          expect(known).toEqual(expect.arrayContaining(`${name.firstName} ${name.lastName}`.split(" ")));
        }
      }
    }),
    { numRuns: 1000 },
  );
});
