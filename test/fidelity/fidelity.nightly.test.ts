// Nightly: 900 files, each drawn by another program too; sampled.long.test.ts has every twentieth.
import { beforeAll, describe, expect, test } from "vitest";
import { concerns, EXCEPTIONS, isNamedRefusal, NAMED_REFUSALS } from "./exceptions.ts";
import { type Finding, measure } from "./measure.ts";
import { percentOf, report } from "./report.ts";
import { corpus } from "./samples/all.ts";
import { KINDS, type Kind } from "./samples/sample.ts";
import { SHARES, TAKEN_PERCENT, WITHIN_PERCENT } from "./shares.ts";

const MEASURE_MS = 900_000;
const kinds = Object.keys(KINDS) as Kind[];
let findings: Finding[];

beforeAll(async () => {
  findings = await measure(await corpus());
  console.log(report(findings));
}, MEASURE_MS);

const isOutside = ({ percent }: Finding) => percent !== null && percent > WITHIN_PERCENT;
/** What a failed test prints of a file. */
const lineOf = ({ name, refusal, percent }: Finding) => `${name}: ${refusal ?? `${percent?.toFixed(2)} %`}`;

test("an independent reader opens more than 80 files of each type of the corpus", () => {
  for (const kind of kinds) {
    const opened = findings.filter((finding) => finding.kind === kind && finding.isOpened);
    expect(opened.length, kind).toBeGreaterThan(80);
  }
});

test(`at least ${TAKEN_PERCENT} % of the files that an independent reader opens are taken, unless a named reason refuses them`, () => {
  const expected = findings.filter((finding) => finding.isOpened && !isNamedRefusal(finding));
  const refused = expected.filter(({ refusal }) => refusal !== null);
  const taken = percentOf(expected.length - refused.length, expected.length);
  expect(taken, refused.map(lineOf).join("\n")).toBeGreaterThanOrEqual(TAKEN_PERCENT);
});

test.each(NAMED_REFUSALS)("$kind files are still refused for this reason: $cause", (refusal) => {
  const named = findings.filter((finding) => concerns(refusal, finding));
  expect(named.length).toBeGreaterThan(0);
  // An entry whose files are taken now must be deleted.
  expect(named.filter((finding) => !isNamedRefusal(finding)).map(lineOf)).toEqual([]);
});

describe.each(kinds)("%s", (kind) => {
  const compared = () => findings.filter((finding) => finding.kind === kind && finding.percent !== null);

  test(`at least ${SHARES[kind]} % of the files look within ${WITHIN_PERCENT} % as an independent reader draws them`, () => {
    const all = compared();
    const within = all.filter((finding) => !isOutside(finding));
    expect(percentOf(within.length, all.length)).toBeGreaterThanOrEqual(SHARES[kind]);
  });

  test("every file that looks different is an exception with a cause", () => {
    const isListed = (finding: Finding) => EXCEPTIONS.some((exception) => concerns(exception, finding));
    const unlisted = compared().filter((finding) => isOutside(finding) && !isListed(finding));
    expect(unlisted.map(lineOf)).toEqual([]);
  });

  test.each(EXCEPTIONS.filter((exception) => exception.kind === kind))(
    "files still look different for this cause: $cause",
    (exception) => {
      const listed = compared().filter((finding) => concerns(exception, finding));
      expect(listed.length).toBeGreaterThanOrEqual(exception.isInstalled ? 0 : 1);
      // An entry whose files look right now must be deleted or narrowed.
      expect(listed.filter((finding) => !isOutside(finding)).map(lineOf)).toEqual([]);
    },
  );
});
