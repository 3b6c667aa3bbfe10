import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEPARTMENTS, SENIORITIES } from "../../contracts/contact-source.ts";
import { classifyTitle } from "./classify-title.ts";

type LabelledTitle = [title: string, department: string, seniority: string];

function labelled(file: string): LabelledTitle[] {
  const text = readFileSync(new URL(`../../../scripts/titles/${file}`, import.meta.url), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [title = "", department = "", seniority = ""] = line.split("\t");
      return [title, department, seniority];
    });
}

/** The share of titles whose classified field equals its label. */
function accuracy(titles: readonly LabelledTitle[]): { department: number; seniority: number } {
  const answers = titles.map(([title]) => classifyTitle(title));
  const share = (isRight: (index: number) => boolean) =>
    titles.filter((_, index) => isRight(index)).length / titles.length;
  return {
    department: share((index) => (answers[index]?.department ?? "-") === titles[index]?.[1]),
    seniority: share((index) => (answers[index]?.seniority ?? "-") === titles[index]?.[2]),
  };
}

test.each([
  ["Chief Executive Officer", "executive", "executive"],
  ["C.E.O.", "executive", "executive"],
  ["Sr. V.P., Sales", "sales", "executive"],
  ["VP Sales EMEA", "sales", "executive"],
  ["Senior Software Engineer (Backend)", "it", "senior"],
  ["Marketing Intern", "marketing", "junior"],
  ["Assistant to the CEO", "operations", "junior"],
  ["Leiterin Personal", "hr", "senior"],
  ["Geschäftsführer", "executive", "executive"],
  ["Directrice marketing", "marketing", "executive"],
  ["Gerente de ventas", "sales", "senior"],
  ["Partner", "executive", "executive"],
  ["HR Business Partner", "hr", null],
  ["Account Manager", "sales", null],
  ["Beekeeper", null, null],
  ["", null, null],
])("classifyTitle(%j) is %s, %s", (title, department, seniority) => {
  expect(classifyTitle(title)).toEqual({ department, seniority });
});

describe("the hand-labelled titles", () => {
  const titles = labelled("labelled-titles.tsv");

  test("are classified as labelled in the half that was not used to tune the rules", () => {
    const { department, seniority } = accuracy(titles.filter((_, index) => index % 2 === 1));
    expect(department).toBeGreaterThanOrEqual(0.96);
    expect(seniority).toBeGreaterThanOrEqual(0.97);
  });

  test("are classified as labelled in a list of occupations that was not used for the rules", () => {
    const { department, seniority } = accuracy(labelled("unseen-occupations.tsv"));
    expect(department).toBeGreaterThanOrEqual(0.9);
    expect(seniority).toBeGreaterThanOrEqual(0.95);
  });
});

test("classifyTitle returns valid values for any text, and ignores case", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 250 }), (title) => {
      const { department, seniority } = classifyTitle(title);
      expect([...DEPARTMENTS, null]).toContain(department);
      expect([...SENIORITIES, null]).toContain(seniority);
    }),
  );
  for (const [title] of labelled("labelled-titles.tsv")) {
    expect(classifyTitle(title.toUpperCase())).toEqual(classifyTitle(title));
  }
});
