import fc from "fast-check";
import { expect, test } from "vitest";
import { candidatesFor } from "./candidates-for.ts";
import { learnPatterns, type NamedLocal } from "./learn-patterns.ts";

function named(...rows: [local: string, firstName: string, lastName: string][]): NamedLocal[] {
  return rows.map(([local, firstName, lastName]) => ({ local, firstName, lastName }));
}

test.each([
  ["ann.lee", "Ann", "Lee", "{first}.{last}"],
  ["Ann.Lee", "Ann", "Lee", "{first}.{last}"],
  ["alee", "Ann", "Lee", "{f}{last}"],
  ["a_lee", "Ann", "Lee", "{f}_{last}"],
  ["lee-ann", "Ann", "Lee", "{last}-{first}"],
  ["lee", "Ann", "Lee", "{last}"],
  ["al", "Ann", "Lee", "{f}{l}"],
  ["annl", "Ann", "Lee", "{first}{l}"],
  ["john.smith2", "John", "Smith", "{first}.{last}"],
  ["john.smith.2", "John", "Smith", "{first}.{last}"],
  ["john+news", "John", "Smith", "{first}"],
  ["petra.mueller", "Petra", "Müller", "{first}.{last}"],
  ["petra.muller", "Petra", "Müller", "{first}.{last}"],
  ["jvanderberg", "Jan", "van der Berg", "{f}{last}"],
  ["jan.berg", "Jan", "van der Berg", "{first}.{last}"],
  ["gabriel.garcia", "Gabriel", "García Márquez", "{first}.{last}"],
  ["anne.dupont", "Anne-Marie", "Dupont", "{first}.{last}"],
  ["amdupont", "Anne-Marie", "Dupont", "{f}{last}"],
])("learnPatterns reads %s of %s %s as %s", (local, firstName, lastName, pattern) => {
  expect(learnPatterns(named([local, firstName, lastName]))).toMatchObject([{ pattern, count: 1 }]);
});

test.each([
  ["petra.mueller", "Petra", "Müller", ["umlaut.two"]],
  ["jorg.mueller", "Jörg", "Müller", []],
  ["pmueller", "Petra", "Müller", ["umlaut.two"]],
  ["petra", "Petra", "Müller", []],
  ["matti.hamalainen", "Matti", "Hämäläinen", ["umlaut.one"]],
  ["asa.strom", "Åsa", "Ström", ["ring.one", "umlaut.one"]],
  ["aasa.berg", "Åsa", "Berg", ["ring.two"]],
  ["soren.kjaer", "Søren", "Kjær", ["ligature.two", "umlaut.one"]],
  ["jan.berg", "Jan", "van der Berg", ["particle.dropped"]],
  ["jan.vanderberg", "Jan", "van der Berg", ["particle.joined"]],
  ["jan.van-der-berg", "Jan", "van der Berg", ["particle.hyphen"]],
  ["jan.van.der.berg", "Jan", "van der Berg", ["particle.point"]],
  ["ana.garcia", "Ana", "García Márquez", ["spacedSurname.first"]],
  ["ana.marquez", "Ana", "García Márquez", ["spacedSurname.last"]],
  ["ana.garciamarquez", "Ana", "García Márquez", ["spacedSurname.joined"]],
  ["ana.garcia-marquez", "Ana", "García Márquez", ["spacedSurname.hyphen"]],
  ["eva.kuhn-lang", "Eva", "Kuhn-Lang", ["hyphenatedSurname.hyphen"]],
  ["ana.torre", "Ana", "Vega de la Torre", ["particle.dropped", "spacedSurname.last"]],
  ["ana.vega", "Ana", "Vega de la Torre", ["spacedSurname.first"]],
  ["annemarie.dupont", "Anne-Marie", "Dupont", ["hyphenatedGiven.joined"]],
  ["anne.m.dupont", "Anne Marie", "Dupont", ["spacedGiven.initial"]],
  ["amdupont", "Anne-Marie", "Dupont", ["initials.all"]],
  ["pat.o'brien", "Pat", "O'Brien", ["apostrophe.kept"]],
])("learnPatterns learns from %s of %s %s the habits %j", (local, firstName, lastName, habits) => {
  const [learned] = learnPatterns(named([local, firstName, lastName]));
  expect(Object.keys(learned?.habits ?? {})).toEqual(habits);
});

test("learnPatterns counts the addresses that show a habit", () => {
  const rows = named(
    ["petra.mueller", "Petra", "Müller"],
    ["joerg.lang", "Jörg", "Lang"],
    ["eva.kruger", "Eva", "Krüger"],
    ["ann.lee", "Ann", "Lee"],
  );
  expect(learnPatterns(rows)).toEqual([
    { pattern: "{first}.{last}", count: 4, habits: { "umlaut.one": 1, "umlaut.two": 2 } },
  ]);
});

test("learnPatterns learns where a domain cuts long addresses", () => {
  const rows = named(
    ["alovelac", "Ada", "Lovelace"],
    ["gmontgom", "Grace", "Montgomery"],
    ["alee", "Ann", "Lee"],
  );
  expect(learnPatterns(rows)).toEqual([{ pattern: "{f}{last}", count: 3, habits: { "cut.8": 2 } }]);
  const cutLast = named(["lovela.a", "Ada", "Lovelace"], ["montgo.g", "Grace", "Montgomery"]);
  expect(learnPatterns(cutLast)).toEqual([]);
  const initialBehind = named(["lovelaa", "Ada", "Lovelace"], ["montgog", "Grace", "Montgomery"]);
  expect(learnPatterns(initialBehind)).toEqual([
    { pattern: "{last}{f}", count: 2, habits: { "lastCut.6": 2 } },
  ]);
});

test("learnPatterns counts longer addresses of a pattern against its cut", () => {
  const rows = named(
    ["alovelac", "Ada", "Lovelace"],
    ["gmontgom", "Grace", "Montgomery"],
    ["ifeatherstone", "Ian", "Featherstone"],
  );
  expect(learnPatterns(rows)).toEqual([
    { pattern: "{f}{last}", count: 3, habits: { "cut.8": 2, "cut.none": 1 } },
  ]);
});

test("learnPatterns tells of how many addresses it read if some follow no pattern", () => {
  const rows = named(["ann.lee", "Ann", "Lee"], ["bobby", "Robert", "Stone"], ["e.m.roe", "Eva", "Roe"]);
  expect(learnPatterns(rows)).toEqual([{ pattern: "{first}.{last}", count: 1, of: 3 }]);
});

test("learnPatterns reads the first 2,000 addresses of a domain", () => {
  const rows = Array.from({ length: 2500 }, () => ({ local: "ann.lee", firstName: "Ann", lastName: "Lee" }));
  expect(learnPatterns(rows)).toEqual([{ pattern: "{first}.{last}", count: 2000 }]);
});

test.each([
  ["info", "Ann", "Lee"],
  ["ann.m.lee", "Ann", "Lee"],
  ["annie", "Ann", "Lee"],
  ["ann.lee.x", "", ""],
  ["", "Ann", "Lee"],
  ["ann.lee.office", "Ann", "Lee"],
  ["a.l.ext", "Ann", "Lee"],
])("learnPatterns finds no pattern in %j of %s %s", (local, firstName, lastName) => {
  expect(learnPatterns(named([local, firstName, lastName]))).toEqual([]);
});

test("learnPatterns keeps literal text in a pattern if several addresses have it", () => {
  const rows = named(["ann.lee.ext", "Ann", "Lee"], ["bo.kim.ext", "Bo", "Kim"], ["x-eva.roe", "Eva", "Roe"]);
  expect(learnPatterns(rows)).toEqual([{ pattern: "{first}.{last}.ext", count: 2, of: 3 }]);
});

test("learnPatterns orders patterns by frequency, and equal ones by simplicity", () => {
  const rows = named(
    ["eroe", "Eva", "Roe"],
    ["ann.lee", "Ann", "Lee"],
    ["bo", "Bo", "Kim"],
    ["ian", "Ian", "May"],
  );
  expect(learnPatterns(rows)).toEqual([
    { pattern: "{first}", count: 2 },
    { pattern: "{first}.{last}", count: 1 },
    { pattern: "{f}{last}", count: 1 },
  ]);
});

test("an address that several patterns form counts for the one that forms the others", () => {
  const doubtful: [string, string, string] = ["kim.kim", "Kim", "Kim"];
  expect(learnPatterns(named(doubtful))).toEqual([{ pattern: "{first}.{last}", count: 1 }]);
  expect(learnPatterns(named(doubtful, ["lee.ann", "Ann", "Lee"]))).toEqual([
    { pattern: "{last}.{first}", count: 2 },
  ]);
});

const people = fc.array(
  fc.record({
    local: fc.oneof(
      fc.constantFrom("ann.lee", "alee", "ann", "lee.ann", "x.ann.lee", "ann.lee3"),
      fc.string({ maxLength: 70 }),
    ),
    firstName: fc.oneof(
      fc.constantFrom("Ann", "Anne-Marie", "Lee", ""),
      fc.string({ unit: "binary", maxLength: 20 }),
    ),
    lastName: fc.oneof(
      fc.constantFrom("Lee", "van der Berg", "Ann", ""),
      fc.string({ unit: "binary", maxLength: 20 }),
    ),
  }),
  { maxLength: 12 },
);

test("learnPatterns returns whole counts in order, at most one per address, independent of the input order", () => {
  fc.assert(
    fc.property(people, (rows) => {
      const patterns = learnPatterns(rows);
      expect(patterns.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(rows.length);
      expect(patterns.map(({ count }) => count)).toEqual(
        patterns.map(({ count }) => count).sort((a, b) => b - a),
      );
      expect(patterns.every(({ count }) => Number.isInteger(count) && count >= 1)).toBe(true);
      expect(new Set(patterns.map(({ pattern }) => pattern)).size).toBe(patterns.length);
      expect(learnPatterns([...rows].reverse())).toEqual(patterns);
    }),
    { numRuns: 300 },
  );
});

test("the pattern learned from an address forms that address again", () => {
  for (const local of ["ann.lee", "alee", "annl", "ann_lee", "lee.ann", "lee"]) {
    const [candidate] = candidatesFor("Ann", "Lee", learnPatterns(named([local, "Ann", "Lee"])));
    expect(candidate?.local).toBe(local);
  }
});
