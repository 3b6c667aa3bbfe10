export const LONGEST_PAUSE_MS = 1000;

/** Pause before the next connection attempt, in milliseconds, after `retries` failed ones. */
export function reconnectPauseMs(retries: number): number {
  return Math.min(LONGEST_PAUSE_MS, 50 * 2 ** Math.min(retries, 10)) * (0.75 + Math.random() / 4);
}
