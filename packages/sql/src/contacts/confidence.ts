import type { ContactEvidence } from "@outrigger/core";

/** After so many days a page counts half. */
const HALF_LIFE_DAYS = 365;
/** How sure one page makes us that shows the address today. */
const STILL_THERE = 0.75;
/** The same of a page that showed it until today, and does no more. */
const NO_LONGER_THERE = 0.4;
/** An address of which nobody tells where it is from. */
const WITHOUT_EVIDENCE = 20;
/** Nobody is sure who has not asked the mail server. */
const MAX_CONFIDENCE = 97;
const DAY_MS = 86_400_000;

/**
 * How sure pages make us that an address is right, from 0 to 97. Each makes us sure by a share of what doubt the others have
 * left: 75 % where it still shows the address, 40 % where it does no more, and half as much for every 365 days since it was
 * seen. One page of today gives 75, two 94; one of two years ago 19.
 *
 * @param nowMs Unix milliseconds.
 */
export function confidenceOf(evidence: readonly ContactEvidence[], nowMs: number): number {
  if (evidence.length === 0) return WITHOUT_EVIDENCE;
  let doubt = 1;
  for (const { lastSeenOn, stillOnPage } of evidence) {
    const days = Math.max(0, (nowMs - Date.parse(lastSeenOn)) / DAY_MS);
    const share = stillOnPage ? STILL_THERE : NO_LONGER_THERE;
    doubt *= 1 - share * 2 ** (-Math.floor(days) / HALF_LIFE_DAYS);
  }
  return Math.min(MAX_CONFIDENCE, Math.round(100 * (1 - doubt)));
}
