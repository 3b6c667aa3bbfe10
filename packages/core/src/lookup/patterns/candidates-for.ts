import type { PatternCount } from "../../contracts/contact-source.ts";
import { nameSpellings } from "../names/name-forms.ts";
import { HABITS, type Habit, type HabitShares, KIN, type Shares } from "../names/name-habits.ts";
import { cutOf, cutTexts } from "./cut-locals.ts";
import { DEFAULT_PATTERNS } from "./default-patterns.ts";
import { fillPattern, readPattern } from "./pattern-text.ts";
import { type ChoicePrior, posteriorShares } from "./posterior-shares.ts";

/** A guess of the local part of a person's address. */
export interface Candidate {
  local: string;
  /** The pattern that forms it; of several, the most probable one. */
  pattern: string;
  /** From 0 to 1; those of one person add up to at most 1. */
  probability: number;
}

/** The belief about the patterns of an organisation, before any of its addresses is known. */
const PRIOR: Pick<ChoicePrior, "several" | "exceptions"> = {
  several: [0.66, 0.25, 0.09],
  exceptions: [
    { share: 0.015, probability: 0.35 },
    { share: 0.05, probability: 0.5 },
    { share: 0.12, probability: 0.12 },
    { share: 0.3, probability: 0.03 },
  ],
};

const MAX_CANDIDATES = 10;
/** Less likely candidates are omitted. */
const MIN_PROBABILITY = 0.0005;
/** Less likely ways to form a local part are not added up. */
const MIN_ADDEND = 0.0001;
/** Among the counts of patterns, addresses that no pattern forms. */
const NONE = "";
/** The share of exceptions that no pattern forms: nicknames, middle initials. */
const NONE_AMONG_EXCEPTIONS = 0.5;

/**
 * The likeliest local parts of a person's address, best first, at most 10, each with its probability. The
 * difference to 1 is the probability that none of them is correct. Without patterns it uses base rates alone.
 * Invalid patterns are ignored.
 */
export function candidatesFor(
  firstName: string,
  lastName: string,
  patterns: readonly PatternCount[],
): Candidate[] {
  const { habits, shares } = beliefOf(patterns);
  const spellings = nameSpellings(firstName, lastName, habits);
  const byLocal = new Map<string, Candidate & { best: number }>();
  const add = (local: string, pattern: string, probability: number) => {
    const known = byLocal.get(local);
    if (known === undefined) {
      byLocal.set(local, { local, pattern, probability, best: probability });
      return;
    }
    known.probability += probability;
    if (probability > known.best) {
      known.pattern = pattern;
      known.best = probability;
    }
  };
  for (const [pattern, share] of shares) {
    const pieces = readPattern(pattern);
    if (pieces === null || share < MIN_PROBABILITY) continue;
    const cut = cutOf(patterns.find((each) => each.pattern === pattern)?.habits);
    for (const spelling of spellings) {
      const weight = share * spelling.weight;
      const minWeight = MIN_ADDEND / weight;
      for (const filled of fillPattern(pieces, spelling.forms, minWeight)) {
        add(filled.text, pattern, weight * filled.weight * (1 - (cut?.probability ?? 0)));
      }
      if (cut === null) continue;
      for (const filled of cutTexts(pieces, spelling, cut.cut, minWeight)) {
        add(filled.text, pattern, weight * filled.weight * cut.probability);
      }
    }
  }
  return [...byLocal.values()]
    .filter(({ probability }) => probability >= MIN_PROBABILITY)
    .sort((left, right) => right.probability - left.probability || (left.local < right.local ? -1 : 1))
    .slice(0, MAX_CANDIDATES)
    .map(({ local, pattern, probability }) => ({ local, pattern, probability }));
}

/** What the known addresses of a domain say about the next one. */
interface Belief {
  habits: HabitShares;
  shares: ReadonlyMap<string, number>;
}

/** Sources return the same patterns for many questions. */
const beliefs = new WeakMap<readonly PatternCount[], Belief>();

function beliefOf(patterns: readonly PatternCount[]): Belief {
  const belief = beliefs.get(patterns) ?? {
    habits: learnedHabits(patterns),
    shares: patternShares(patterns),
  };
  beliefs.set(patterns, belief);
  return belief;
}

function patternShares(patterns: readonly PatternCount[]): Map<string, number> {
  const shares = new Map(DEFAULT_PATTERNS.map(({ pattern, share }) => [pattern, share]));
  const listed = [...shares.values()].reduce((sum, share) => sum + share, 0);
  const counts = new Map<string, number>();
  let read = 0;
  for (const { pattern, count, of = 0 } of patterns) {
    if (count > 0 && readPattern(pattern) !== null) counts.set(pattern, (counts.get(pattern) ?? 0) + count);
    read = Math.max(read, of);
  }
  const explained = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (read > explained) counts.set(NONE, read - explained);
  shares.set(NONE, Math.max(0, 1 - listed));
  const stray = new Map(
    [...shares].map(([pattern, share]) => [pattern, share * (1 - NONE_AMONG_EXCEPTIONS)]),
  );
  stray.set(NONE, NONE_AMONG_EXCEPTIONS);
  const posterior = posteriorShares({ shares, stray, ...PRIOR }, counts);
  posterior.delete(NONE);
  return posterior;
}

/** Most organisations write all names of a kind in one way. */
const CONSISTENCY: Pick<ChoicePrior, "several" | "exceptions"> = {
  several: [0.975, 0.025],
  exceptions: [
    { share: 0.01, probability: 0.7 },
    { share: 0.05, probability: 0.23 },
    { share: 0.25, probability: 0.07 },
  ],
};
/** The weight of evidence on a related habit. */
const KINSHIP = 0.65;

/** The habits of a domain, by the known addresses of its patterns. */
function learnedHabits(patterns: readonly PatternCount[]): HabitShares {
  const counts = new Map<string, Map<string, number>>();
  for (const { habits = {} } of patterns) {
    for (const [key, count] of Object.entries(habits)) {
      const [habit = "", choice = ""] = key.split(".");
      const known = counts.get(habit) ?? new Map<string, number>();
      counts.set(habit, known);
      known.set(choice, (known.get(choice) ?? 0) + count);
    }
  }
  const posterior = (habit: Habit, usual: Shares): Shares => {
    const seen = counts.get(habit);
    if (seen === undefined) return usual;
    const shares = new Map(Object.entries(usual));
    return Object.fromEntries(posteriorShares({ shares, ...CONSISTENCY }, seen));
  };
  return (habit, usual = HABITS[habit]) => {
    const kin = KIN[habit];
    if (kin === undefined || !counts.has(kin)) return posterior(habit, usual);
    const suggested = posterior(kin, HABITS[kin]);
    const mixed = Object.entries(usual).map(
      ([choice, share]) => [choice, (1 - KINSHIP) * share + KINSHIP * (suggested[choice] ?? 0)] as const,
    );
    return posterior(habit, Object.fromEntries(mixed));
  };
}
