/** The error of an attempt or body that made no progress. */
class NoProgressError extends Error {
  readonly code = "ETIMEDOUT";

  constructor(limitMs: number) {
    super(`No progress for ${limitMs} ms`);
    this.name = "TimeoutError";
  }
}

/**
 * Calls `onSilence` once, between `limitMs` and twice that after the last progress.
 * @param progress Returns a number that changes with progress. @default no progress
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
