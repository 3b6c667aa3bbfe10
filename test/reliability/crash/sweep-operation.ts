import type { Attempt } from "./attempt.ts";
import { ask } from "./image-client.ts";
import { blobsIn } from "./left-overs.ts";
import { HOUR_MS, look, storeImage, versionOf } from "./stored-image.ts";

/**
 * Later than the end of the short life, and than what an unfinished upload may take. What fails then is tried again before
 * it is twice as late, and before the end of the long life.
 */
const AHEAD_MS = 20 * 60_000;
const SHORT_LIFE_MS = 10 * 60_000;

/** A pass at a time when one of two images has expired. */
export async function sweep(base: string, directory: string): Promise<Attempt> {
  const expiring = await storeImage(base, versionOf("short life", SHORT_LIFE_MS));
  const living = await storeImage(base, versionOf("long life", HOUR_MS));
  return {
    run: () => sweepAhead(base),
    // What it could not do the next one does.
    needs: () => false,
    async check(later) {
      // At the present time it is alive; unless the sweep, to which it was over, has written that down.
      expiring.states = ["alive", "gone"];
      const violations = [
        ...(await look(later, expiring)).violations,
        ...(await look(later, living)).violations,
      ];
      const again = await sweepAhead(later, 2 * AHEAD_MS);
      if (again?.status !== 204) violations.push(`the next sweep answers ${again?.status}`);
      expiring.states = ["gone"];
      for (const image of [expiring, living]) violations.push(...(await look(later, image)).violations);
      const left = (await blobsIn(directory)).filter(({ id }) => id === expiring.key.id);
      if (left.some(({ part }) => part !== "record"))
        violations.push("the sweep left an expired image's bytes");
      return violations;
    },
  };
}

/** Has a host sweep as if it were later. */
export function sweepAhead(base: string, aheadMs = AHEAD_MS) {
  return ask(`${base}/sweep?aheadMs=${aheadMs}`, { method: "POST" });
}
