import type { PatternCount } from "../../contracts/contact-source.ts";
import { nameForms } from "../names/name-forms.ts";
import { DEFAULT_PATTERNS, type PatternShare } from "./default-patterns.ts";
import { fillPattern, readPattern } from "./pattern-text.ts";

/** A guess of what stands before the `@` in somebody's address. */
export interface Candidate {
  local: string;
  /** The pattern that makes it; of several, the one that most likely did. */
  pattern: string;
  /** From 0 to 1; those of one person add up to at most 1. */
  probability: number;
}

/** What is believed before any address of the domain is known. */
export interface PatternPrior {
  /** @default DEFAULT_PATTERNS */
  shares: readonly PatternShare[];
  /** How many known addresses this belief weighs as much as. @default 0.15 */
  strength: number;
  /** Of people whose address the domain's own pattern does not form, e.g. because another one has it. @default 0.04 */
  exceptions: number;
}

export const DEFAULT_PRIOR: PatternPrior = { shares: DEFAULT_PATTERNS, strength: 0.15, exceptions: 0.04 };

const MAX_CANDIDATES = 10;
/** Less likely ones are left out. */
const MIN_PROBABILITY = 0.0005;

/**
 * The likeliest locals of a person's address, best first, at most 10: for each, the probability that it is the one. What is
 * missing to 1 is that it is none of them. Without patterns it goes by base rates alone. Patterns that are none are ignored.
 */
export function candidatesFor(
  firstName: string,
  lastName: string,
  patterns: readonly PatternCount[],
  prior: PatternPrior = DEFAULT_PRIOR,
): Candidate[] {
  const forms = nameForms(firstName, lastName);
  const byLocal = new Map<string, Candidate & { best: number }>();
  for (const { pattern, share } of posteriorShares(patterns, prior)) {
    const pieces = readPattern(pattern);
    for (const { text, weight } of pieces === null ? [] : fillPattern(pieces, forms)) {
      const probability = share * weight;
      const known = byLocal.get(text);
      if (known === undefined) {
        byLocal.set(text, { local: text, pattern, probability, best: probability });
      } else {
        known.probability += probability;
        if (probability > known.best) {
          known.pattern = pattern;
          known.best = probability;
        }
      }
    }
  }
  return [...byLocal.values()]
    .filter(({ probability }) => probability >= MIN_PROBABILITY)
    .sort((left, right) => right.probability - left.probability || (left.local < right.local ? -1 : 1))
    .slice(0, MAX_CANDIDATES)
    .map(({ local, pattern, probability }) => ({ local, pattern, probability }));
}

/** The mean of the Dirichlet distribution over patterns, given how many addresses show each. */
function posteriorShares(patterns: readonly PatternCount[], prior: PatternPrior): PatternShare[] {
  const weights = new Map(prior.shares.map(({ pattern, share }) => [pattern, share * prior.strength]));
  let total = prior.strength;
  for (const { pattern, count } of patterns) {
    if (count > 0 && readPattern(pattern) !== null) {
      weights.set(pattern, (weights.get(pattern) ?? 0) + count);
      total += count;
    }
  }
  return [...weights].map(([pattern, weight]) => ({
    pattern,
    share: (1 - prior.exceptions) * (weight / total),
  }));
}
