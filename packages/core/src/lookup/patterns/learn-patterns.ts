import type { PatternCount } from "../../contracts/contact-source.ts";
import { DEFAULT_PATTERNS } from "./default-patterns.ts";
import { explainLocal } from "./explain-local.ts";

/** A person's name and local part, from which a pattern can be learned. */
export interface NamedLocal {
  /** The part before the `@`. */
  local: string;
  firstName: string;
  lastName: string;
}

/** Literal text that fewer addresses share is coincidence, or specific to a person. */
const MIN_WITH_TEXT = 2;

const SIMPLICITY: ReadonlyMap<string, number> = new Map(
  DEFAULT_PATTERNS.map(({ pattern }, index) => [pattern, index]),
);

/**
 * Learns how addresses are formed from names, most frequent pattern first. Each address counts once, for one
 * pattern, or not at all if no pattern forms it. If several patterns form it, it counts for the one that
 * forms most of the unambiguous addresses. Of equal ones the simplest wins: the one that comes first in
 * {@link DEFAULT_PATTERNS}.
 */
export function learnPatterns(addresses: Iterable<NamedLocal>): PatternCount[] {
  const sure = new Map<string, number>();
  const doubtful: (readonly string[])[] = [];
  for (const { local, firstName, lastName } of addresses) {
    const explanation = explainLocal(local, firstName, lastName);
    const [only, ...others] = explanation?.patterns ?? [];
    if (only !== undefined && others.length === 0) {
      sure.set(only, (sure.get(only) ?? 0) + 1);
    } else if (explanation !== null) {
      doubtful.push(explanation.patterns);
    }
  }
  const counts = new Map(sure);
  for (const patterns of doubtful) {
    const best = patterns.reduce((left, right) => (isBefore(right, left, sure) ? right : left));
    counts.set(best, (counts.get(best) ?? 0) + 1);
  }
  return [...counts]
    .filter(([pattern, count]) => count >= MIN_WITH_TEXT || !hasText(pattern))
    .sort(([left], [right]) => (isBefore(left, right, counts) ? -1 : 1))
    .map(([pattern, count]) => ({ pattern, count }));
}

function isBefore(left: string, right: string, counts: ReadonlyMap<string, number>): boolean {
  const byCount = (counts.get(left) ?? 0) - (counts.get(right) ?? 0);
  if (byCount !== 0) {
    return byCount > 0;
  }
  const bySimplicity = simplicity(left) - simplicity(right);
  return bySimplicity !== 0 ? bySimplicity < 0 : left < right;
}

function simplicity(pattern: string): number {
  return SIMPLICITY.get(pattern) ?? DEFAULT_PATTERNS.length + pattern.length;
}

/** Whether there are letters besides the placeholders. */
function hasText(pattern: string): boolean {
  return /[a-z]/.test(pattern.replace(/\{[a-z]+\}/g, ""));
}
