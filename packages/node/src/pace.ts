/** Grace period before the rate of a sender counts. */
const GRACE_MS = 30_000;

/** Measures the average rate of a body that is being received. */
export interface Pace {
  /** Counts bytes that have just arrived. @returns Whether the sender is fast enough. */
  add(bytes: number): boolean;
  /** Stops the clock until `resume`: the receiver makes the sender wait. */
  pause(): void;
  resume(): void;
}

/**
 * Creates a pace. It checks the average rate since the first byte whenever bytes arrive, once {@link
 * GRACE_MS} have passed. It does not
 * detect silence; the caller has a time limit for that.
 *
 * @param minBytesPerSecond 0: every rate is fast enough.
 */
export function createPace(minBytesPerSecond: number): Pace {
  let total = 0;
  let beganAt: number | undefined;
  let pausedAt: number | undefined;
  let pausedMs = 0;
  return {
    add(bytes) {
      const now = performance.now();
      total += bytes;
      beganAt ??= now;
      const elapsedMs = now - beganAt - pausedMs;
      return elapsedMs <= GRACE_MS || total * 1000 >= minBytesPerSecond * elapsedMs;
    },
    pause() {
      pausedAt ??= performance.now();
    },
    resume() {
      if (pausedAt !== undefined) pausedMs += performance.now() - pausedAt;
      pausedAt = undefined;
    },
  };
}
