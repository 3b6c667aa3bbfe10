import type { Attack, Means } from "./attack.ts";
import { reachingAttacks } from "./reaching-attacks.ts";
import { scriptAttacks } from "./script-attacks.ts";
import { styleAttacks } from "./style-attacks.ts";

/** Every SVG that tries to run or to load something. */
export function attackVectors(means: Means): Attack[] {
  const rows = [...scriptAttacks(means), ...reachingAttacks(means), ...styleAttacks(means)];
  return rows.map(([title, svg, does]) => ({ title, svg, ...(does === undefined ? {} : { does }) }));
}
