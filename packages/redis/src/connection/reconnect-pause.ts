export const LONGEST_PAUSE_MS = 1000;

/** How long to wait before a server is tried again that could not be reached so many times. */
export function reconnectPauseMs(retries: number): number {
  return Math.min(LONGEST_PAUSE_MS, 50 * 2 ** Math.min(retries, 10)) * (0.75 + Math.random() / 4);
}
