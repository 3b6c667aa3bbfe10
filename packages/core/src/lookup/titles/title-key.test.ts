import { expect, test } from "vitest";
import { titleKey } from "./title-key.ts";

const contains = (title: string, wanted: string) => titleKey(title).includes(titleKey(wanted));

test("a title contains its words in any case, with or without accents", () => {
  expect(contains("Directeur Général", "directeur general")).toBe(true);
  expect(contains("geschaftsfuhrer", "GESCHÄFTSFÜHRER")).toBe(true);
  expect(contains("Senior Software Engineer", "software engineer")).toBe(true);
  expect(contains("C.E.O.", "ceo")).toBe(true);
  expect(contains("Vice-President, Sales", "vice president sales")).toBe(true);
  expect(contains("軟件工程師 II", "軟件工程師")).toBe(true);
});

test("a title does not contain a part of one of its words", () => {
  expect(contains("Engineering Manager", "engineer")).toBe(false);
  expect(contains("Director", "CTO")).toBe(false);
  expect(contains("Vice President", "president vice")).toBe(false);
  expect(contains("Sales Operations Manager", "sales manager")).toBe(false);
});

test("connecting words make no difference between titles", () => {
  expect(contains("VP of Sales", "VP Sales")).toBe(true);
  expect(contains("Head Marketing", "head of marketing")).toBe(true);
  expect(contains("Leiter der Entwicklung", "Leiter Entwicklung")).toBe(true);
});

test("a text without words has an empty key, and a long one a bounded key", () => {
  expect(titleKey("—!? 👩‍💻")).toBe("");
  expect(titleKey("%_")).toBe("");
  for (const word of ["軟件 ", "軟件", "sales "]) {
    const { length } = titleKey(word.repeat(200));
    expect(length).toBeGreaterThan(100);
    expect(length).toBeLessThan(410);
  }
});
