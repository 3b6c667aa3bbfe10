import { beforeAll, expect, test } from "vitest";
import { concerns, EXCEPTIONS, isNamedRefusal, PATTERNS } from "./exceptions.ts";
import { type Finding, measure } from "./measure.ts";
import { corpus } from "./samples/all.ts";
import { WITHIN_PERCENT } from "./shares.ts";

/** Every so many files of the corpus are drawn here; fidelity.nightly.test.ts draws all. */
const EACH = 20;
/** The file that found a defect once. */
const isTelling = ({ name }: { name: string }) => name.startsWith("pdf/") && PATTERNS.test(name.slice(4));
/** For that file: an exception that stays small. */
const PATTERNS_PERCENT = 3;
let findings: Finding[];

beforeAll(async () => {
  const files = await corpus();
  findings = await measure(files.filter(({ name }, index) => index % EACH === 0 || isTelling({ name })));
});

test("every twentieth file of the corpus is taken, and looks as an independent reader draws it", () => {
  const expected = findings.filter(
    (finding) =>
      finding.isOpened &&
      !isNamedRefusal(finding) &&
      (isTelling(finding) || !EXCEPTIONS.some((exception) => concerns(exception, finding))),
  );
  expect(expected.length).toBeGreaterThan(30);
  expect(expected.some(isTelling)).toBe(true);
  const mostPercent = (finding: Finding) => (isTelling(finding) ? PATTERNS_PERCENT : WITHIN_PERCENT);
  const different = expected.filter(
    (finding) => finding.percent === null || finding.percent > mostPercent(finding),
  );
  expect(different.map(({ name, refusal, percent }) => `${name}: ${refusal ?? percent}`)).toEqual([]);
});
