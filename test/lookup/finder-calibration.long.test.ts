import { candidatesFor, learnPatterns } from "@outrigger/core/lookup";
import { expect, test } from "vitest";
import { generatedCompanies, NAME_KINDS } from "../support/generated-companies.ts";

const SEED = 20_000;
const PER_LOCALE = 500;
const ASKED = 2;
const MIN_IN_DECILE = 100;
/** As in the finder: an unconfirmed guess has at most this probability. */
const MAX_PROBABILITY = 0.95;

interface Guess {
  kind: string;
  said: number;
  isRight: boolean;
}

/** The best guess for each person asked for, from the patterns and habits of the known addresses. */
function bestGuesses(): Guess[] {
  return [...generatedCompanies(SEED, PER_LOCALE, ASKED)].flatMap(({ known, asked }) => {
    const patterns = learnPatterns(known);
    return asked.map(({ kind, firstName, lastName, local }) => {
      const [best] = candidatesFor(firstName, lastName, patterns);
      const said = Math.min(MAX_PROBABILITY, best?.probability ?? 0);
      return { kind, said, isRight: best?.local === local };
    });
  });
}

function summary(guesses: readonly Guess[]) {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    count: guesses.length,
    said: mean(guesses.map(({ said }) => 100 * said)),
    right: mean(guesses.map(({ isRight }) => (isRight ? 100 : 0))),
  };
}

/** A table for the message of a failure. */
function tableOf(title: string, rows: readonly (readonly [string, readonly Guess[]])[]): string {
  const lines = rows.map(([name, guesses]) => {
    const { count, said, right } = summary(guesses);
    return `| ${name} | ${count} | ${said.toFixed(1)} | ${right.toFixed(1)} |`;
  });
  return [`| ${title} | questions | mean score | right, % |`, "| --- | --- | --- | --- |", ...lines].join(
    "\n",
  );
}

test("in each decile of scores, the share of right guesses is within 5 points of the mean score", {
  timeout: 300_000,
}, () => {
  const guesses = bestGuesses();
  const deciles = Array.from({ length: 10 }, (_, decile) => {
    const inDecile = guesses.filter(({ said }) => Math.floor(said * 10) === decile);
    return [`${10 * decile}–${decile === 9 ? 95 : 10 * decile + 9}`, inDecile] as const;
  }).filter(([, { length }]) => length >= MIN_IN_DECILE);
  const kinds = NAME_KINDS.map((kind) => [kind, guesses.filter((guess) => guess.kind === kind)] as const);
  const printed = [tableOf("score", deciles), tableOf("kind of name", kinds)].join("\n\n");
  expect(deciles.length, printed).toBeGreaterThanOrEqual(8);
  for (const [name, inDecile] of deciles) {
    const { said, right } = summary(inDecile);
    expect(Math.abs(said - right), `${name}:\n${printed}`).toBeLessThanOrEqual(5);
  }
  // Each kind of name has its habits, and each is learned.
  for (const [kind, ofKind] of kinds) {
    const { said, right } = summary(ofKind);
    expect(Math.abs(said - right), `${kind}:\n${printed}`).toBeLessThanOrEqual(9);
    expect(right, `${kind}:\n${printed}`).toBeGreaterThanOrEqual(60);
  }
});
