import type { ContactEvidence } from "@outrigger/core/lookup";

/** Days after which the weight of a page is halved. */
const HALF_LIFE_DAYS = 365;
/** Weight of a page that shows the address today. */
const STILL_THERE = 0.75;
/** Weight of a page that showed the address until today. */
const NO_LONGER_THERE = 0.4;
/** Weight of a page without dates: one of a year ago that no longer shows the address. */
const WITHOUT_DATE = 0.2;
/** Confidence of an address without any page. */
const WITHOUT_EVIDENCE = 20;
/** Upper bound: only the mail server itself could confirm more. */
const MAX_CONFIDENCE = 97;
const DAY_MS = 86_400_000;

/**
 * Confidence that an address is correct, from 0 to 97: `1 − ∏(1 − w)` over the pages. The weight w of a page is
 * 0.75 if it still shows the address and 0.40 if not, halved for every 365 days since it was last seen. One page of
 * today gives 75, two give 94; one of two years ago gives 19. A page without dates weighs 0.20. Without any page: 20.
 *
 * @param nowMs Unix milliseconds.
 */
export function confidenceOf(evidence: readonly ContactEvidence[], nowMs: number): number {
  if (evidence.length === 0) return WITHOUT_EVIDENCE;
  let doubt = 1;
  for (const { lastSeenOn, stillOnPage } of evidence) {
    if (lastSeenOn === null) {
      doubt *= 1 - WITHOUT_DATE;
      continue;
    }
    const days = Math.max(0, (nowMs - Date.parse(lastSeenOn)) / DAY_MS);
    const share = stillOnPage ? STILL_THERE : NO_LONGER_THERE;
    doubt *= 1 - share * 2 ** (-Math.floor(days) / HALF_LIFE_DAYS);
  }
  return Math.min(MAX_CONFIDENCE, Math.round(100 * (1 - doubt)));
}
