/** Why an attempt or a body ended that made no progress. */
class NoProgressError extends Error {
  readonly code = "ETIMEDOUT";

  constructor(limitMs: number) {
    super(`No progress for ${limitMs} ms`);
    this.name = "TimeoutError";
  }
}

/**
 * Calls `onSilence` once when there was no progress for `limitMs`, and at the latest after twice that.
 * @param progress A number that changes with progress. @default there is none
 */
export function createWatchdog(
  limitMs: number,
  onSilence: (error: Error) => void,
  progress: () => number = () => 0,
): { stop(): void } {
  let seen = progress();
  const timer = setInterval(() => {
    const now = progress();
    if (now !== seen) {
      seen = now;
      return;
    }
    clearInterval(timer);
    onSilence(new NoProgressError(limitMs));
  }, limitMs);
  return { stop: () => clearInterval(timer) };
}
