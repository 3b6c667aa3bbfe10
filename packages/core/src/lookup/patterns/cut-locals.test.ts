import { expect, test } from "vitest";
import { nameSpellings } from "../names/name-forms.ts";
import { cutReadings, cutTexts } from "./cut-locals.ts";
import { DEFAULT_PATTERNS } from "./default-patterns.ts";
import { readPattern } from "./pattern-text.ts";

const NAMES = [
  ["Jörg", "Müller-Lüdenscheidt"],
  ["Anne-Marie", "van der Berg"],
  ["Christopher", "Featherstonehaugh"],
  ["Ana", "García López"],
  ["X", "O'Brien"],
] as const;

test("cutReadings finds each pattern and cut whose texts include the local part, and no other", () => {
  let readings = 0;
  for (const [firstName, lastName] of NAMES) {
    const name = nameSpellings(firstName, lastName);
    const formed = (pattern: string, cut: Parameters<typeof cutTexts>[2]) => {
      const pieces = readPattern(pattern) ?? [];
      return name.flatMap((spelling) => cutTexts(pieces, spelling, cut).map(({ text }) => text));
    };
    const patterns = DEFAULT_PATTERNS.map(({ pattern }) => pattern).filter((each) => each.includes("{last}"));
    const cutsOf = (pattern: string) =>
      pattern.endsWith("{last}")
        ? [5, 6, 8, 12, 20].map((length) => `cut.${length}` as const)
        : [3, 5, 8].map((length) => `lastCut.${length}` as const);
    const locals = new Set(patterns.flatMap((each) => cutsOf(each).flatMap((cut) => formed(each, cut))));
    for (const local of [...locals].filter((_, index) => index % 5 === 0)) {
      const expected =
        local.length < 5
          ? []
          : patterns.flatMap((pattern) =>
              (pattern.endsWith("{last}")
                ? [`cut.${local.length}` as const]
                : [3, 4, 5, 6, 7, 8].map((length) => `lastCut.${length}` as const)
              )
                .filter((cut) => formed(pattern, cut).includes(local))
                .map((cut) => [pattern, cut]),
            );
      expect(cutReadings(local, name), local).toEqual(expected);
      readings += expected.length;
    }
  }
  expect(readings).toBeGreaterThan(100);
});
