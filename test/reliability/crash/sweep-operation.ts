import type { Attempt } from "./attempt.ts";
import { ask } from "./image-client.ts";
import { blobsIn } from "./left-overs.ts";
import { HOUR_MS, look, storeImage, versionOf } from "./stored-image.ts";

/**
 * After the end of the short life, and after the limit for unfinished uploads. Failed work is retried before twice this
 * time, and before the end of the long life.
 */
const AHEAD_MS = 20 * 60_000;
const SHORT_LIFE_MS = 10 * 60_000;

/** One sweep after one of two images has expired. */
export async function sweep(base: string, directory: string): Promise<Attempt> {
  const expiring = await storeImage(base, versionOf("short life", SHORT_LIFE_MS));
  const living = await storeImage(base, versionOf("long life", HOUR_MS));
  return {
    run: () => sweepAhead(base),
    // The next sweep completes what this one could not.
    needs: () => false,
    async check(later) {
      // At the present time it is alive, unless the sweep, for which it had expired, has stored its expiry.
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

/** Makes a host sweep as if it were later. */
export function sweepAhead(base: string, aheadMs = AHEAD_MS) {
  return ask(`${base}/sweep?aheadMs=${aheadMs}`, { method: "POST" });
}
