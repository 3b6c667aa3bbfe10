import type { PatternCount } from "../../contracts/contact-source.ts";
import { nameForms } from "../names/name-forms.ts";
import { DEFAULT_PATTERNS, type PatternShare } from "./default-patterns.ts";
import { fillPattern, readPattern } from "./pattern-text.ts";

/** A guess of the local part of a person's address. */
export interface Candidate {
  local: string;
  /** The pattern that forms it; of several, the most probable one. */
  pattern: string;
  /** From 0 to 1; those of one person add up to at most 1. */
  probability: number;
}

/** The prior belief, before any address of the domain is known. */
export interface PatternPrior {
  /** @default DEFAULT_PATTERNS */
  shares: readonly PatternShare[];
  /** The weight of this prior, as a number of known addresses. @default 0.15 */
  strength: number;
  /**
   * Share of people whose address does not follow the domain's pattern, e.g. because another person has that
   * address. @default 0.04
   */
  exceptions: number;
}

export const DEFAULT_PRIOR: PatternPrior = { shares: DEFAULT_PATTERNS, strength: 0.15, exceptions: 0.04 };

const MAX_CANDIDATES = 10;
/** Less likely candidates are omitted. */
const MIN_PROBABILITY = 0.0005;

/**
 * The likeliest local parts of a person's address, best first, at most 10, each with its probability. The
 * difference to 1 is the probability that none of them is correct. Without patterns it uses base rates alone.
 * Invalid patterns are ignored.
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

/** The mean of the Dirichlet distribution over patterns, given the number of addresses that show each. */
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
