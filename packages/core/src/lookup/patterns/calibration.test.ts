import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { brierScore, type Outcome, type ReliabilityBin, reliability } from "../../../test/reliability.ts";
import { syntheticCompanies } from "../../../test/synthetic-companies.ts";
import { candidatesFor } from "./candidates-for.ts";
import { learnPatterns } from "./learn-patterns.ts";

/** Other companies than those used to choose the strength of the prior. */
const SEED = 77_000;
const KNOWN_COUNTS = [0, 1, 2, 3, 5, 10, 20, 50];
const COMPANIES = 250;
const HELD_OUT = 5;
const DOCS = new URL("../../../../../docs/lookup-names.md", import.meta.url);
/** With fewer people a mean is not meaningful. */
const MIN_IN_BIN = 100;

/** The probability of the best guess for each held-out person, and whether it was the person's address. */
function bestGuesses(knownCount: number): Outcome[] {
  const companies = [...syntheticCompanies(SEED + knownCount, COMPANIES, knownCount, HELD_OUT)];
  return companies.flatMap(({ known, heldOut }) => {
    const patterns = learnPatterns(known);
    return heldOut.map(({ firstName, lastName, local }) => {
      const [best] = candidatesFor(firstName, lastName, patterns);
      return { probability: best?.probability ?? 0, isTrue: best?.local === local };
    });
  });
}

/** The table as printed in docs/lookup-names.md. */
function tableOf(bins: readonly ReliabilityBin[]): string {
  const rows = bins.map(
    ({ from, count, predicted, observed }) =>
      `| ${from.toFixed(1)}–${(from + 0.1).toFixed(1)} | ${count} | ${predicted.toFixed(3)} | ${observed.toFixed(3)} |`,
  );
  return ["| predicted | people | mean predicted | share right |", "| --- | --- | --- | --- |", ...rows].join(
    "\n",
  );
}

/** The Brier score per number of known addresses, as printed in the same document. */
function scoresOf(byCount: readonly Outcome[][]): string {
  const rows = byCount.map(
    (outcomes, index) => `| ${KNOWN_COUNTS[index]} | ${brierScore(outcomes).toFixed(3)} |`,
  );
  return ["| addresses known | Brier score |", "| --- | --- |", ...rows].join("\n");
}

test("the probability of the best guess matches its observed frequency within 0.07", {
  timeout: 240_000,
}, () => {
  const byCount = KNOWN_COUNTS.map(bestGuesses);
  const all = byCount.flat();
  const bins = reliability(all);
  const table = tableOf(bins);
  const filled = bins.filter(({ count }) => count >= MIN_IN_BIN);
  expect(filled.length, table).toBeGreaterThanOrEqual(8);
  for (const { from, predicted, observed } of filled) {
    expect(Math.abs(predicted - observed), `from ${from}:\n${table}`).toBeLessThanOrEqual(0.07);
  }
  expect(brierScore(all), table).toBeLessThan(0.17);
  // More known addresses give better guesses.
  const [none, , , , , , , fifty] = byCount.map(brierScore);
  expect(fifty, table).toBeLessThan(none ?? 0);
  const docs = readFileSync(DOCS, "utf8").replace(/ +/g, " ").replace(/-{3,}/g, "---");
  expect(docs).toContain(table);
  expect(docs).toContain(scoresOf(byCount));
});
