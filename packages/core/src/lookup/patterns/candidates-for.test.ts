import fc from "fast-check";
import { expect, test } from "vitest";
import { parseAddress } from "../address/parse-address.ts";
import { candidatesFor } from "./candidates-for.ts";
import { DEFAULT_PATTERNS } from "./default-patterns.ts";

test("candidatesFor uses base rates for a domain without known addresses", () => {
  const candidates = candidatesFor("Ann", "Lee", []);
  expect(candidates.slice(0, 3).map(({ local, pattern }) => [local, pattern])).toEqual([
    ["ann.lee", "{first}.{last}"],
    ["alee", "{f}{last}"],
    ["ann", "{first}"],
  ]);
  expect(candidates[0]?.probability).toBeLessThan(0.5);
});

test("candidatesFor weighs known patterns above base rates, more with more addresses", () => {
  const once = candidatesFor("Ann", "Lee", [{ pattern: "{last}.{first}", count: 1 }]);
  const often = candidatesFor("Ann", "Lee", [{ pattern: "{last}.{first}", count: 20 }]);
  expect(once[0]?.local).toBe("lee.ann");
  expect(often[0]).toMatchObject({ local: "lee.ann", pattern: "{last}.{first}" });
  expect(often[0]?.probability).toBeGreaterThan(once[0]?.probability ?? 1);
});

test("candidatesFor divides the probability among patterns by their counts", () => {
  const [first, second] = candidatesFor("Ann", "Lee", [
    { pattern: "{f}{last}", count: 30 },
    { pattern: "{first}", count: 10 },
  ]);
  expect([first?.local, second?.local]).toEqual(["alee", "ann"]);
  const ratio = (first?.probability ?? 0) / (second?.probability ?? 1);
  expect(ratio).toBeGreaterThan(2.7);
  expect(ratio).toBeLessThan(3);
});

test("a local part that several patterns form is one candidate with the sum of their probabilities", () => {
  const patterns = [
    { pattern: "{first}.{last}", count: 10 },
    { pattern: "{last}.{first}", count: 9 },
  ];
  const [candidate, ...others] = candidatesFor("Kim", "Kim", patterns);
  expect(candidate).toMatchObject({ local: "kim.kim", pattern: "{first}.{last}" });
  expect(candidate?.probability).toBeGreaterThan(0.9);
  expect(others.map(({ local }) => local)).not.toContain("kim.kim");
});

test("the forms of a name share the probability of a pattern", () => {
  const candidates = candidatesFor("Jan", "van der Berg", [{ pattern: "{first}.{last}", count: 9 }]);
  expect(candidates.slice(0, 4).map(({ local }) => local)).toEqual([
    "jan.vanderberg",
    "jan.berg",
    "jan.van-der-berg",
    "jan.van.der.berg",
  ]);
});

test("candidatesFor ignores invalid patterns", () => {
  const known = candidatesFor("Ann", "Lee", []);
  for (const pattern of [
    "",
    "info",
    "{middle}.{last}",
    "{first} {last}",
    "{first}@{last}",
    "{first}\r\n{last}",
    "{First}",
    "{f}{l}{f}{l}",
  ]) {
    expect(candidatesFor("Ann", "Lee", [{ pattern, count: 50 }])).toEqual(known);
  }
  expect(candidatesFor("Ann", "Lee", [{ pattern: "{first}", count: 0 }])).toEqual(known);
  // The local parts that these make are not valid.
  for (const pattern of ["{first}..{last}", ".{first}", "{last}."]) {
    expect(candidatesFor("Ann", "Lee", [{ pattern, count: 1 }])[0]?.local).toBe("ann.lee");
  }
});

const FIRST_LAST = "{first}.{last}";

test.each([
  ["Matti", "Hämäläinen", { "umlaut.one": 6 }, "matti.hamalainen"],
  ["Jörg", "Müller", { "umlaut.one": 6 }, "jorg.muller"],
  ["Jörg", "Müller", { "umlaut.two": 6 }, "joerg.mueller"],
  ["Åsa", "Ström", { "umlaut.one": 6 }, "asa.strom"],
  ["Søren", "Kjær", { "umlaut.two": 6 }, "soeren.kjaer"],
  ["Jan", "van den Berg", { "particle.dropped": 5 }, "jan.berg"],
  ["Jan", "van den Berg", { "particle.point": 5 }, "jan.van.den.berg"],
  ["Ana", "García Márquez", { "spacedSurname.last": 4 }, "ana.marquez"],
  ["Ana", "García Márquez", { "spacedSurname.first": 4 }, "ana.garcia"],
  ["Ana", "García Márquez", { "spacedSurname.hyphen": 4 }, "ana.garcia-marquez"],
  ["Eva", "Kuhn-Lang", { "hyphenatedSurname.joined": 4 }, "eva.kuhnlang"],
  ["Anne-Marie", "Dupont", { "hyphenatedGiven.joined": 4 }, "annemarie.dupont"],
])(
  "candidatesFor writes %s %s at a domain with the habits %j as %s, with at least 0.8",
  (first, last, habits, local) => {
    const patterns = [{ pattern: FIRST_LAST, count: 10, habits }];
    const [best] = candidatesFor(first, last, patterns);
    expect(best?.local).toBe(local);
    expect(best?.probability).toBeGreaterThan(0.8);
  },
);

test("without a known habit, the spellings of a name share its probability", () => {
  const [plain] = candidatesFor("Ann", "Lee", [{ pattern: FIRST_LAST, count: 10 }]);
  expect(plain?.probability).toBeGreaterThan(0.9);
  for (const lastName of ["Müller", "García Márquez", "Kuhn-Lang", "van den Berg"]) {
    const [best, second] = candidatesFor("Ann", lastName, [{ pattern: FIRST_LAST, count: 10 }]);
    expect(best?.probability).toBeLessThan(0.65);
    expect(second?.probability).toBeGreaterThan(0.15);
  }
});

test("a whole name has one spelling: no candidate mixes two", () => {
  const locals = candidatesFor("Jörg", "Müller", [{ pattern: FIRST_LAST, count: 10 }]).map(
    ({ local }) => local,
  );
  expect(locals).toEqual(expect.arrayContaining(["joerg.mueller", "jorg.muller"]));
  expect(locals).not.toContain("joerg.muller");
  expect(locals).not.toContain("jorg.mueller");
});

test("the habit of hyphenated surnames suggests that of two surnames", () => {
  const patterns = [{ pattern: FIRST_LAST, count: 10, habits: { "hyphenatedSurname.last": 3 } }];
  const [best] = candidatesFor("Ana", "García Márquez", patterns);
  expect(best?.local).toBe("ana.marquez");
  expect(best?.probability).toBeGreaterThan(0.5);
  expect(best?.probability).toBeLessThan(0.8);
});

test("candidatesFor cuts addresses as the domain does", () => {
  const cut = [{ pattern: "{f}{last}", count: 5, habits: { "cut.8": 3 } }];
  expect(candidatesFor("Ada", "Lovelace", cut)[0]).toMatchObject({ local: "alovelac", pattern: "{f}{last}" });
  expect(candidatesFor("Ann", "Lee", cut)[0]?.local).toBe("alee");
  const lastCut = [{ pattern: "{last}{f}", count: 5, habits: { "lastCut.6": 3 } }];
  expect(candidatesFor("Ada", "Lovelace", lastCut)[0]?.local).toBe("lovelaa");
  const seldom = [{ pattern: "{f}{last}", count: 9, habits: { "cut.8": 2, "cut.none": 6 } }];
  expect(candidatesFor("Ada", "Lovelace", seldom)[0]?.local).toBe("alovelace");
});

test("addresses that no pattern forms lower every probability", () => {
  const [clean] = candidatesFor("Ann", "Lee", [{ pattern: FIRST_LAST, count: 3 }]);
  const [doubtful] = candidatesFor("Ann", "Lee", [{ pattern: FIRST_LAST, count: 3, of: 6 }]);
  expect(doubtful?.probability).toBeLessThan((clean?.probability ?? 0) - 0.2);
});

test("candidatesFor ignores unknown habits", () => {
  const patterns = [{ pattern: FIRST_LAST, count: 5 }];
  const habits = { "shoe.size": 40, "umlaut.three": 3, "cut.0": 2, "cut.999": 2, "": 1 };
  const [odd] = candidatesFor("Ann", "Lee", [{ pattern: FIRST_LAST, count: 5, habits }]);
  expect(odd).toEqual(candidatesFor("Ann", "Lee", patterns)[0]);
});

test("each base rate belongs to a valid pattern, and together they leave room for unlisted patterns", () => {
  expect(DEFAULT_PATTERNS.reduce((sum, { share }) => sum + share, 0)).toBeLessThan(0.97);
  expect(DEFAULT_PATTERNS.map(({ share }) => share)).toEqual(
    DEFAULT_PATTERNS.map(({ share }) => share).sort((left, right) => right - left),
  );
});

test("candidatesFor returns at most 10 distinct local parts, best first, with probabilities of at most 1 in total", () => {
  const names = fc.oneof(
    fc.constantFrom("Ann", "Anne-Marie", "van der Berg", "García Márquez", "O'Brien", "Müller-Schäfer", "李"),
    fc.string({ unit: "binary", maxLength: 100 }),
  );
  const patterns = fc.array(
    fc.record({
      pattern: fc.oneof(
        fc.constantFrom(
          "{first}.{last}",
          "{f}{l}",
          "{first}{last}{f}",
          "{last}_{f}",
          "x.{first}",
          "{first}{last}{first}{last}{first}",
        ),
        fc.string({ maxLength: 20 }),
      ),
      count: fc.integer({ min: 0, max: 1000 }),
    }),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(names, names, patterns, (firstName, lastName, known) => {
      const candidates = candidatesFor(firstName, lastName, known);
      const probabilities = candidates.map(({ probability }) => probability);
      expect(candidates.length).toBeLessThanOrEqual(10);
      expect(new Set(candidates.map(({ local }) => local)).size).toBe(candidates.length);
      expect(probabilities).toEqual([...probabilities].sort((left, right) => right - left));
      expect(probabilities.every((probability) => probability > 0)).toBe(true);
      expect(probabilities.reduce((sum, probability) => sum + probability, 0)).toBeLessThan(1 + 1e-9);
      for (const { local } of candidates) {
        expect(parseAddress(`${local}@example.com`)?.local).toBe(local);
      }
    }),
    { numRuns: 300 },
  );
});
