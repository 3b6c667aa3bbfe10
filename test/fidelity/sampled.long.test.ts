import { beforeAll, expect, test } from "vitest";
import { concerns, EXCEPTIONS, isNamedRefusal } from "./exceptions.ts";
import { type Finding, measure } from "./measure.ts";
import { corpus } from "./samples/all.ts";
import { WITHIN_PERCENT } from "./shares.ts";

/** Every so many files of the corpus are drawn here; fidelity.nightly.test.ts draws all. */
const EACH = 20;
/** Files that found a defect once. */
const TELLING = /^pdf\/by librsvg, patterns$/;
/** PDFium draws the tiles of a pattern one by one: at small sizes their seams show. */
const PATTERNS_PERCENT = 3;
let findings: Finding[];

beforeAll(async () => {
  const files = await corpus();
  findings = await measure(files.filter(({ name }, index) => index % EACH === 0 || TELLING.test(name)));
});

test("every twentieth file of the corpus is taken, and looks as an independent reader draws it", () => {
  const expected = findings.filter(
    (finding) =>
      finding.isOpened &&
      !isNamedRefusal(finding) &&
      !EXCEPTIONS.some((exception) => concerns(exception, finding)),
  );
  expect(expected.length).toBeGreaterThan(30);
  expect(expected.some(({ name }) => TELLING.test(name))).toBe(true);
  const different = expected.filter(({ name, percent }) => percent === null || percent > mostPercent(name));
  expect(different.map(({ name, refusal, percent }) => `${name}: ${refusal ?? percent}`)).toEqual([]);
});

function mostPercent(name: string): number {
  return TELLING.test(name) ? PATTERNS_PERCENT : WITHIN_PERCENT;
}
