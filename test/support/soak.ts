/** Whether this is a long run (`npm run soak`), in which tests do many times what they otherwise do a few times. */
export const isSoak = process.env.OUTRIGGER_SOAK === "1";

/** Whether all tests run (`npm test -- --all`, or a soak), in which a test may go through a second host. */
export const isWhole = isSoak || process.env.OUTRIGGER_TEST_TIER === "all";

/** How often, or how long: `quick` in every run of the tests, `long` in a soak. */
export function amount(quick: number, long: number): number {
  return isSoak ? long : quick;
}
